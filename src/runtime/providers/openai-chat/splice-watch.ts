/**
 * Detects a second answer that begins in the middle of a stream (failures.md R13): a new id together with another
 * opening of a message. Neither is enough alone: some gateways give every chunk its own id, some repeat the role in
 * every chunk, and some have no ids. If every chunk names the role, a new id counts once it occurs twice.
 */
export class SpliceWatch {
  #id = "";
  #chunks = 0;
  #everyChunkNamesRole = true;
  /** An id that may belong to another answer; the next chunk decides. */
  #stranger: string | undefined;

  /** `begins`: another answer starts with this chunk. `began`: it started with the previous chunk. */
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
