/**
 * Follows the end of the conversation as long as the reader wants it. Only the reader stops it: by scrolling up, by a key,
 * by dragging the bar or by selecting text. It begins again at the end of the page, whether the reader scrolls there or
 * asks for it. What arrives never decides.
 */

export class FollowEnd {
  readonly #scroller: HTMLElement;
  readonly #onChange: () => void;
  readonly #stops: readonly (() => void)[];
  readonly #observer: IntersectionObserver;
  readonly #sizes: ResizeObserver;
  #following = true;
  #endInView = true;
  #top = 0;
  #touchY = 0;
  #dragging = false;
  /** The reader asked for the end, and the browser is on its way there. */
  #goesToEnd = false;

  constructor(scroller: HTMLElement, content: HTMLElement, sentinel: HTMLElement, onChange: () => void) {
    this.#scroller = scroller;
    this.#onChange = onChange;
    this.#stops = [
      listen(scroller, "wheel", (event) => {
        if (event.deltaY < 0 && canScrollUp(event.target, scroller)) this.#set(false);
      }),
      listen(scroller, "touchstart", (event) => {
        this.#touchY = event.touches[0]?.clientY ?? 0;
      }),
      listen(scroller, "touchmove", (event) => {
        const y = event.touches[0]?.clientY ?? 0;
        if (y > this.#touchY + 2) this.#set(false);
        this.#touchY = y;
      }),
      listen(scroller, "keydown", (event) => this.#key(event)),
      listen(scroller, "pointerdown", (event) => {
        // On the scroll bar: the content is not under the pointer.
        this.#dragging = event.target === scroller && event.offsetX >= scroller.clientWidth;
      }),
      listen(window, "pointerup", () => {
        this.#dragging = false;
      }),
      listen(document, "selectionchange", () => {
        const selection = document.getSelection();
        if (selection !== null && !selection.isCollapsed && scroller.contains(selection.anchorNode))
          this.#set(false);
      }),
      listen(scroller, "scroll", () => this.#scrolled()),
      listen(scroller, "scrollend", () => this.#settled()),
    ];
    this.#observer = new IntersectionObserver(
      ([entry]) => {
        this.#endInView = entry?.isIntersecting === true;
      },
      { root: scroller },
    );
    this.#observer.observe(sentinel);
    // Content grows after it was drawn, too: a highlighted block, an image, a narrower window.
    this.#sizes = new ResizeObserver(() => this.keep());
    this.#sizes.observe(content);
    this.#sizes.observe(scroller);
  }

  get following(): boolean {
    return this.#following;
  }

  /** Called after each draw. */
  keep(): void {
    if (this.#following) this.#toEnd();
  }

  /** The reader wants the end. */
  jump(): void {
    this.#set(true);
    this.#toEnd();
  }

  /** The reader wants to be somewhere else. */
  leave(): void {
    this.#set(false);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#observer.disconnect();
    this.#sizes.disconnect();
  }

  #toEnd(): void {
    const { scrollHeight, clientHeight } = this.#scroller;
    this.#scroller.scrollTop = scrollHeight - clientHeight;
    this.#top = this.#scroller.scrollTop;
  }

  #key(event: KeyboardEvent): void {
    const field =
      event.target instanceof HTMLElement && event.target.closest("textarea, input, select") !== null;
    if (field || event.defaultPrevented) return;
    if (event.key === "End") {
      this.#goesToEnd = true;
      this.jump();
    } else if (["PageUp", "Home", "ArrowUp"].includes(event.key) || (event.key === " " && event.shiftKey)) {
      // An arrow that acts on a control does not scroll.
      if (event.target === this.#scroller || event.key !== "ArrowUp") this.#set(false);
    }
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const moved = scrollTop - this.#top;
    this.#top = scrollTop;
    if (this.#dragging && moved < 0) this.#set(false);
    const atEnd = scrollHeight - scrollTop - clientHeight < 4;
    if (moved > 0 && (atEnd || (this.#endInView && scrollHeight - scrollTop - clientHeight < 24)))
      this.#set(true);
  }

  /** Nothing moves any more. The browser scrolls to where the end was when the key was pressed; it may have grown since. */
  #settled(): void {
    if (this.#following && this.#goesToEnd) this.#toEnd();
    this.#goesToEnd = false;
  }

  #set(following: boolean): void {
    if (following === this.#following) return;
    this.#following = following;
    this.#onChange();
  }
}

/**
 * A wheel over code that scrolls by itself moves the code first. The browser may have scrolled already when it tells of the
 * wheel, so where the conversation stands by then says nothing.
 */
function canScrollUp(target: EventTarget | null, scroller: HTMLElement): boolean {
  for (
    let one = target instanceof Element ? target : null;
    one !== null && one !== scroller;
    one = one.parentElement
  )
    if (one.scrollTop > 0 && one.scrollHeight > one.clientHeight) return false;
  return scroller.scrollHeight > scroller.clientHeight;
}

function listen<K extends keyof HTMLElementEventMap>(
  target: EventTarget,
  type: K,
  hear: (event: HTMLElementEventMap[K]) => void,
): () => void {
  const own = (event: Event): void => hear(event as HTMLElementEventMap[K]);
  target.addEventListener(type, own, { passive: true });
  return () => target.removeEventListener(type, own);
}
