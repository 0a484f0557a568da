import { assert, it } from "@effect/vitest"
import * as Limits from "../../src/limits/Limits.ts"
import * as QueueWorkStep from "../../src/queue/QueueWorkStep.ts"
import { id, start } from "../samples.ts"

it("a process takes no more messages of a number than it has room for, and looks again soon", () => {
  const phoneNumberId = id("pn")
  const lane = { phoneNumberId, workspaceId: id("ws"), workAt: start, nextSlot: start }
  const decided = (room: number) =>
    QueueWorkStep.work(
      { now: (asked) => asked, lane, number: undefined, due: null },
      [{ now: start, limit: 100, limits: Limits.standard, roomOf: (one) => one === phoneNumberId ? room : 100 }]
    )
  assert.deepStrictEqual(decided(2), { needs: [{ limit: 2 }] })
  const full = decided(0)
  if ("needs" in full) return assert.fail("nothing is handed out")
  assert.deepStrictEqual(full.answers[0]!.claimed, [])
  assert.strictEqual(full.writes.lane.workAt, start + 200)
})
