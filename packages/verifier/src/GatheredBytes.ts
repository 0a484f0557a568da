/**
 * Gathers the bytes of a body under a limit. It copies the pieces instead of keeping them: if a body arrives byte by
 * byte, the kept pieces would take hundreds of times the memory of their content.
 */
export class GatheredBytes {
  #bytes = new Uint8Array()
  #length = 0

  /** How many bytes were taken. */
  get length(): number {
    return this.#length
  }

  /** How many bytes of memory are allocated for them. */
  get capacity(): number {
    return this.#bytes.length
  }

  /** Takes one more piece. Returns false, and takes nothing, if there would be more than `limit` bytes in all. */
  take(piece: Uint8Array, limit: number): boolean {
    const length = this.#length + piece.length
    if (length > limit) {
      return false
    }
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.min(limit, Math.max(length, 2 * this.#bytes.length)))
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.#length)
    this.#length = length
    return true
  }

  /** All bytes that were taken, in a buffer of exactly their length. */
  all(): Uint8Array<ArrayBuffer> {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.#length)
  }
}
