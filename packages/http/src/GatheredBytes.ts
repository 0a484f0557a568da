/**
 * The bytes of a body, as they come. The pieces are let go of: in a body that anybody sends byte by byte, each would
 * take hundreds of times the memory of what is in it.
 */
export class GatheredBytes {
  #bytes = new Uint8Array()
  #length = 0

  /** How many were taken. */
  get length(): number {
    return this.#length
  }

  /** Takes one more piece; false, and nothing taken, when there are more than `limit` bytes then. */
  take(piece: Uint8Array, limit: number): boolean {
    const length = this.#length + piece.length
    if (length > limit) return false
    if (length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#bytes.length))
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.#length)
    this.#length = length
    return true
  }

  /** All that was taken, in a buffer of its own that is no longer than it. */
  all(): Uint8Array<ArrayBuffer> {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.slice(0, this.#length)
  }
}
