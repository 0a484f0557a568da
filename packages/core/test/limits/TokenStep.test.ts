import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Policy } from "../../src/limits/RateLimit.ts"
import { giveBack, spend, type Tokens, type Writes } from "../../src/limits/TokenStep.ts"
import { inBatches, sizes } from "../batches.ts"
import { between, checks, second, upTo } from "../checks.ts"
import { start } from "../samples.ts"

/** Three tokens, one more each second. */
const policy: Policy = { name: "login", interval: second, capacity: 3 }

const tokens = (keys: ReadonlyArray<string>, now = start): Tokens => ({
  now,
  buckets: keys.map((key) => ({ key, policy }))
})

class World {
  readonly buckets = new Map<string, number>()

  spend(batch: ReadonlyArray<Tokens>): ReadonlyArray<ReadonlyArray<boolean>> {
    const { answers, writes } = spend(this.loaded(), batch)
    this.write(writes)
    return answers.map((readings) => readings.map(({ allowed }) => allowed))
  }

  giveBack(batch: ReadonlyArray<Tokens>): void {
    this.write(giveBack(this.loaded(), batch).writes)
  }

  private loaded() {
    return { now: (asked: number) => asked, fullAt: (key: string) => this.buckets.get(key) }
  }

  private write(writes: Writes): void {
    for (const { fullAt, key } of writes) this.buckets.set(key, fullAt)
  }
}

describe("spending tokens", () => {
  it("spending takes one from each bucket or none, even from the same bucket twice", () => {
    const world = new World()
    assert.deepStrictEqual(world.spend([tokens(["one", "one"]), tokens(["two", "one"]), tokens(["two", "one"])]), [
      [true, true],
      [true, true],
      [true, false]
    ])
    assert.deepStrictEqual([...world.buckets], [["one", start + 3 * second], ["two", start + second]])
  })

  it("a bucket that refuses is written only if a clock far ahead had written it", () => {
    const world = new World()
    world.buckets.set("one", start + 3 * second)
    assert.deepStrictEqual(
      spend({ now: (asked) => asked, fullAt: () => start + 3 * second }, [tokens(["one"])]).writes,
      []
    )
    world.buckets.set("one", start + 60 * second)
    assert.deepStrictEqual(world.spend([tokens(["one"])]), [[false]])
    assert.strictEqual(world.buckets.get("one"), start + 3 * second)
  })

  it("spending is judged at the storage's time", () => {
    const { writes } = spend({ now: () => start + second, fullAt: () => undefined }, [tokens(["one"])])
    assert.deepStrictEqual(writes, [{ key: "one", fullAt: start + 2 * second }])
  })
})

describe("giving tokens back", () => {
  it("giving back returns as many as requested, and none to a bucket that is not stored", () => {
    const world = new World()
    world.spend([tokens(["one"]), tokens(["one"])])
    world.giveBack([tokens(["one", "two"]), tokens(["one"])])
    assert.deepStrictEqual([...world.buckets], [["one", start]])
  })
})

const command = Schema.Struct({
  kind: Schema.Literals(["spend", "spend", "spend", "giveBack"]),
  keys: upTo(Schema.Literals(["one", "two", "three"]), 3),
  at: between(-5, 5)
})

it.prop("batches decide the same as their commands one by one", { commands: upTo(command, 30), sizes }, (_) => {
  const play = (sizes: ReadonlyArray<number>) => {
    const world = new World()
    const answers = inBatches(_.commands, sizes, ({ kind }) => kind, (kind, batch): ReadonlyArray<unknown> => {
      const all = batch.map(({ at, keys }) => tokens(keys, start + at * second))
      if (kind === "spend") return world.spend(all)
      world.giveBack(all)
      return batch.map(() => null)
    })
    return { answers, buckets: world.buckets }
  }
  assert.deepStrictEqual(play(_.sizes), play([]))
}, checks)
