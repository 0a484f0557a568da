import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit } from "effect"
import * as Timeline from "../src/Timeline.ts"

/** A world with a lane of its own for a process, and what was written down there. */
const world = (seed = 1) => {
  const timeline = Timeline.make(seed)
  const written: Array<string> = []
  return {
    timeline,
    outer: timeline.lane("world"),
    process: timeline.lane("process"),
    written,
    write: (text: string) => Effect.sync(() => void written.push(text))
  }
}

describe("Timeline.run", () => {
  it("time passes from one sleep to the next, and takes none of the machine's", async () => {
    const { outer, timeline } = world()
    const began = timeline.now()
    const exit = await timeline.run(outer, Effect.as(Effect.sleep("400 days"), "slept"))
    assert.deepStrictEqual(exit, Exit.succeed("slept"))
    assert.strictEqual(timeline.now() - began, 400 * 24 * 3_600_000)
  })

  it("a run in which nothing is left that could go on is rejected", async () => {
    const { outer, timeline } = world()
    const message = await timeline.run(outer, Effect.never).then(() => "", ({ message }: Error) => message)
    assert.strictEqual(message, "nothing is left that could go on")
  })
})

describe("Timeline.make", () => {
  const order = async (seed: number) => {
    const { outer, timeline, write, written } = world(seed)
    const one = (name: string) => Effect.andThen(Effect.yieldNow, write(name))
    await timeline.run(outer, Effect.all(["a", "b", "c", "d", "e", "f"].map(one), { concurrency: "unbounded" }))
    return written.join("")
  }

  it("the order of turns is the same for a seed, and another for another", async () => {
    assert.strictEqual(await order(3), await order(3))
    assert.isAbove(new Set([await order(1), await order(2), await order(3), await order(4)]).size, 2)
  })
})

describe("Timeline.lane", () => {
  it("a lane that is killed runs nothing more, not even finalizers, and tells of its death", async () => {
    const { outer, process, timeline, write, written } = world()
    Effect.runForkWith(process.context)(
      Effect.ensuring(Effect.andThen(Effect.sleep("1 second"), write("went on")), write("finalizer"))
    )
    process.onDeath(() => written.push("dead"))
    await timeline.run(outer, Effect.sleep("500 millis"))
    process.kill()
    await timeline.run(outer, Effect.sleep("1 hour"))
    assert.deepStrictEqual(written, ["dead"])
    assert.isTrue(process.isDead())
  })

  it("a lane that is suspended goes on where it stood, later than it would have", async () => {
    const { outer, process, timeline, write, written } = world()
    Effect.runForkWith(process.context)(Effect.andThen(Effect.sleep("1 second"), write("went on")))
    process.suspend(60_000)
    await timeline.run(outer, Effect.sleep("59 seconds"))
    assert.deepStrictEqual(written, [])
    await timeline.run(outer, Effect.sleep("2 seconds"))
    assert.deepStrictEqual(written, ["went on"])
  })

  it("a lane whose clock is ahead sleeps as long as the others, and another lane has its own clock", async () => {
    const { outer, process, timeline, write, written } = world()
    const began = timeline.now()
    process.setAhead(-5000)
    const told = Effect.flatMap(Clock.currentTimeMillis, (now) => write(String(now - began)))
    Effect.runForkWith(process.context)(Effect.andThen(Effect.sleep("1 second"), told))
    await timeline.run(outer, Effect.andThen(Effect.sleep("2 seconds"), told))
    assert.deepStrictEqual(written, ["-4000", "2000"])
  })

  it("an effect that is forked in a suspended lane begins once the lane goes on", async () => {
    const { outer, process, timeline, write, written } = world()
    process.suspend(60_000)
    process.fork(write("began"))
    await timeline.run(outer, Effect.sleep("59 seconds"))
    assert.deepStrictEqual(written, [])
    await timeline.run(outer, Effect.sleep("2 seconds"))
    assert.deepStrictEqual(written, ["began"])
  })
})
