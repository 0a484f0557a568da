import { assert, describe, it } from "@effect/vitest"
import { countedAtOnce, maxWaiting, type Replay, statuses } from "../../src/webhooks/Replay.ts"
import { cancel, create, type Job, type LoadedStep, step } from "../../src/webhooks/ReplayStep.ts"
import { day, hour, second } from "../checks.ts"
import { delivery, id, start } from "../samples.ts"

const now = start + day

const replay = (fields: Partial<Replay> = {}): Replay => ({
  id: id("job"),
  workspaceId: id("ws"),
  webhookId: id("whk"),
  since: start,
  until: start + hour,
  status: null,
  state: "running",
  total: null,
  replayed: 0,
  createdAt: start + hour,
  completedAt: null,
  ...fields
})

const job = (fields: Partial<Job> = {}): Job => ({ replay: replay(), reached: null, stepAt: start, ...fields })

const ended = (n: number, fields: Parameters<typeof delivery>[0] = {}) =>
  delivery({
    id: id("dlv", n),
    status: "delivered",
    createdAt: start + n,
    nextAttemptAt: null,
    completedAt: start + hour,
    ...fields
  })

describe("making a job", () => {
  const command = { id: id("job"), workspaceId: id("ws"), since: start, until: start + hour, status: null, now: start }

  it("no job is created without a webhook", () => {
    const made = create({ now: (asked) => asked, present: () => undefined, covered: () => 0 }, [command])
    assert.deepStrictEqual(made, { answers: [undefined], writes: { jobs: [] } })
  })

  it.each([[start - hour, start - hour], [start, now], [start + hour, now]])(
    "a range until %d, of which now is the start, ends by the storage's time: %d",
    (until, expected) => {
      const { answers: [made] } = create({ now: () => now, present: () => id("whk"), covered: () => 3 }, [
        { ...command, since: start - day, until }
      ])
      assert.deepStrictEqual(made, replay({ since: start - day, until: expected, total: 3, createdAt: now }))
    }
  )

  it("a range that is not counted has no total", () => {
    const { writes: { jobs: [made] } } = create({ now: () => now, present: () => id("whk"), covered: () => null }, [
      command
    ])
    assert.isNull(made?.replay.total)
    assert.isAbove(countedAtOnce, 0)
  })
})

describe("cancelling a job", () => {
  it("cancelling ends a job once", () => {
    const loaded = { now: (asked: number) => asked, job: () => job() }
    const of = { workspaceId: id("ws"), id: id("job") }
    const { answers, writes } = cancel(loaded, [{ ...of, now }, { ...of, now: now + day }])
    const cancelled = replay({ state: "cancelled", completedAt: now })
    assert.deepStrictEqual(answers, [cancelled, cancelled])
    assert.deepStrictEqual(writes.jobs, [job({ replay: cancelled })])
  })

  it("cancelling an unknown job returns nothing", () => {
    const of = { workspaceId: id("ws"), id: id("job"), now }
    assert.deepStrictEqual(cancel({ now: () => now, job: () => undefined }, [of]), {
      answers: [undefined],
      writes: { jobs: [] }
    })
  })
})

describe("a step of a job", () => {
  const loaded = (fields: Partial<LoadedStep> = {}): LoadedStep => ({
    now: () => now,
    order: () => [],
    job: job(),
    isPresent: true,
    isPaused: false,
    isWritten: true,
    waiting: 0,
    ended: [ended(1), ended(2, { trigger: "test" }), ended(3)],
    ...fields
  })
  const command = { now, limit: 3 }

  it("a step starts a new round of each covered delivery, and continues after what it has scanned", () => {
    const { begun, jobs } = step(loaded(), command)
    assert.deepStrictEqual(begun.map((one) => one.id), [id("dlv", 1), id("dlv", 3)])
    for (const one of begun) {
      assert.deepStrictEqual([one.status, one.trigger, one.nextAttemptAt], ["pending", "replay", now])
    }
    assert.deepStrictEqual(jobs, [
      job({ replay: replay({ replayed: 2 }), reached: { id: id("dlv", 3), createdAt: start + 3 }, stepAt: now })
    ])
  })

  it("a step that finds less than its limit completes the job", () => {
    const { jobs: [after] } = step(loaded({ job: job({ replay: replay({ replayed: 5 }) }) }), { now, limit: 4 })
    assert.deepStrictEqual(after?.replay, replay({ state: "completed", total: 7, replayed: 7, completedAt: now }))
  })

  it("a step pauses for a second when the maximum waits, before the first delivery without room", () => {
    const { begun, jobs } = step(loaded({ waiting: maxWaiting - 1 }), command)
    assert.deepStrictEqual(begun.map((one) => one.id), [id("dlv", 1)])
    assert.deepStrictEqual(jobs, [
      job({
        replay: replay({ replayed: 1 }),
        reached: { id: id("dlv", 2), createdAt: start + 2 },
        stepAt: now + second
      })
    ])
  })

  it("a step waits until skipped deliveries are written", () => {
    const { begun, jobs } = step(loaded({ isWritten: false }), command)
    assert.deepStrictEqual([begun, jobs], [[], [job({ stepAt: now + second })]])
  })

  it("a step waits while the webhook is paused, and touches no delivery", () => {
    const { begun, jobs } = step(loaded({ isPaused: true }), command)
    assert.deepStrictEqual([begun, jobs], [[], [job({ stepAt: now + second })]])
  })

  it.each(statuses)("a step leaves deliveries that ended after the job was created: %s", (status) => {
    const late = [0, 1].map((after) => ended(1 + after, { status, completedAt: start + hour + after }))
    const { begun } = step(loaded({ ended: late }), command)
    assert.deepStrictEqual(begun.map((one) => one.id), [id("dlv", 1)])
  })

  it("a step of a job whose webhook was removed cancels it", () => {
    const { begun, jobs } = step(loaded({ isPresent: false }), command)
    assert.deepStrictEqual([begun, jobs], [[], [
      job({ replay: replay({ state: "cancelled", completedAt: now }) })
    ]])
  })
})
