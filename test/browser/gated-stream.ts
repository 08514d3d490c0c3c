/** An answer that arrives only as far as a test lets it: the stream stops before each delta until it is released. */

export interface GatedStream {
  readonly fetch: typeof fetch;
  /** Lets so many more deltas pass. */
  release(deltas: number): void;
}

export function gatedStream(): GatedStream {
  let room = 0;
  let wake: (() => void) | undefined;
  const pass = async (): Promise<void> => {
    if (room === 0)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    room -= 1;
  };
  return {
    release(deltas) {
      room += deltas;
      wake?.();
      wake = undefined;
    },
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      if (answer.body === null) return answer;
      const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
      let rest = "";
      const gate = new TransformStream<Uint8Array, Uint8Array>({
        async transform(chunk, out) {
          rest += decoder.decode(chunk, { stream: true });
          const frames = rest.split("\n\n");
          rest = frames.pop() ?? "";
          for (const frame of frames) {
            if (frame.includes("output_text.delta")) await pass();
            out.enqueue(encoder.encode(`${frame}\n\n`));
          }
        },
        flush: (out) => out.enqueue(encoder.encode(rest)),
      });
      return new Response(answer.body.pipeThrough(gate), { status: answer.status, headers: answer.headers });
    },
  };
}
