/**
 * Tells a second answer that begins in the middle of a stream (failures.md R13): another id, and the opening of a message
 * once more. Neither alone says it: some gateways give every chunk an id of its own, some repeat the role in every chunk,
 * some have no ids. Where every chunk names the role, an id counts when it comes twice.
 */
export class SpliceWatch {
  #id = "";
  #chunks = 0;
  #everyChunkNamesRole = true;
  /** An id that may be another answer's: the next chunk tells. */
  #stranger: string | undefined;

  /** `begins`: with this chunk. `began`: with the chunk before. */
  take(id: string, namesRole: boolean): "goes_on" | "begins" | "began" {
    if (id === "") return "goes_on";
    if (this.#id === "" || id === this.#id) {
      this.#id = id;
      this.#chunks += 1;
      this.#everyChunkNamesRole &&= namesRole;
      this.#stranger = undefined;
      return "goes_on";
    }
    if (id === this.#stranger) return this.#follow(id, 2, namesRole, "began");
    this.#stranger = undefined;
    if (!namesRole) return "goes_on";
    if (!this.#everyChunkNamesRole || this.#chunks > 1) return this.#follow(id, 1, true, "begins");
    this.#stranger = id;
    return "goes_on";
  }

  #follow<Told>(id: string, chunks: number, namesRole: boolean, told: Told): Told {
    this.#id = id;
    this.#chunks = chunks;
    this.#everyChunkNamesRole = namesRole;
    this.#stranger = undefined;
    return told;
  }
}
