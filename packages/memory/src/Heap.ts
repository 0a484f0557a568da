/**
 * A binary heap: finds the least item in constant time, adds and removes in O(log n).
 */
export class Heap<A> {
  readonly #items: Array<A> = []
  readonly #isBefore: (a: A, b: A) => boolean

  constructor(isBefore: (a: A, b: A) => boolean) {
    this.#isBefore = isBefore
  }

  peek(): A | undefined {
    return this.#items[0]
  }

  push(item: A): void {
    const items = this.#items
    let at = items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isBefore(item, items[parent]!)) break
      items[at] = items[parent]!
      at = parent
    }
    items[at] = item
  }

  pop(): A | undefined {
    const items = this.#items
    const least = items[0]
    const item = items.pop()
    if (items.length === 0 || item === undefined) return least
    let at = 0
    for (let child = 1; child < items.length; child = 2 * at + 1) {
      if (child + 1 < items.length && this.#isBefore(items[child + 1]!, items[child]!)) child++
      if (!this.#isBefore(items[child]!, item)) break
      items[at] = items[child]!
      at = child
    }
    items[at] = item
    return least
  }

  clear(): void {
    this.#items.length = 0
  }
}
