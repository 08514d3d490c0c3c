export declare const highlightJs: {
  getLanguage(name: string): object | undefined;
  /** Returns HTML: spans with a class, and escaped text. */
  highlight(
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string };
};
