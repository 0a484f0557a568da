/**
 * A map whose expired entries are removed as it grows. In memory only.
 */
import type { Time } from "@wac/core"

/** Smaller maps are never swept. */
const leastSize = 1024

/**
 * A map that drops its dead entries whenever it has doubled in size: O(1) per entry, and memory in proportion to the
 * live ones.
 */
export class ExpiringMap<K, V> {
  readonly #entries = new Map<K, V>()
  readonly #isDead: (value: V, now: Time.Instant) => boolean
  #forgetAt = leastSize

  constructor(isDead: (value: V, now: Time.Instant) => boolean) {
    this.#isDead = isDead
  }

  get size(): number {
    return this.#entries.size
  }

  /** The entry, dead or alive. */
  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  /** Every entry, dead or alive. */
  values(): Iterable<V> {
    return this.#entries.values()
  }

  set(key: K, value: V, now: Time.Instant): void {
    this.#entries.set(key, value)
    if (this.#entries.size < this.#forgetAt) return
    this.forget((kept) => this.#isDead(kept, now))
    this.#forgetAt = Math.max(leastSize, 2 * this.#entries.size)
  }

  /** Replaces the value of every entry. */
  change(changed: (value: V, key: K) => V): void {
    for (const [key, kept] of this.#entries) this.#entries.set(key, changed(kept, key))
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }

  /** Deletes the entries that are old by the caller's judgement. Returns how many. */
  forget(isOld: (value: V) => boolean): number {
    const before = this.#entries.size
    for (const [key, kept] of this.#entries) if (isOld(kept)) this.#entries.delete(key)
    return before - this.#entries.size
  }
}
