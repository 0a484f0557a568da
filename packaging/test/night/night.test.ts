/**
 * The operator's night: what can happen to an installation happens to the packed server while callers send. In each step
 * the service says what is wrong, at its addresses, in its log, its metrics and its alerts; it recovers by itself; and
 * nothing is lost or doubled. It takes minutes, so `npm run long -- night` runs it and `npm test` does not.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { call } from "../Caller.ts"
import type * as PackedServer from "../PackedServer.ts"
import { until } from "../Surroundings.ts"
import * as Night from "./Night.ts"
import * as Record from "./Record.ts"

/** For a step that hangs; no step waits for it. */
const bound = 180_000

let packed: PackedServer.PackedServer
let night: Night.Night

/** What was said, by the step. */
const said = new Map<string, Array<string>>()

/** Notes what the service said; it was asserted. */
const note = (step: string, words: string) => said.set(step, [...said.get(step) ?? [], words])

/** A step. Each begins once the one before has ended. */
interface Step {
  readonly name: string
  /** What holds. */
  readonly title: string
  readonly carryOut: (says: (words: string) => void) => Promise<void>
}

/** Waits until an alert fires. */
const fires = (alert: string) =>
  until(`the alert ${alert}`, async () => (await night.prometheus.firing()).includes(alert) || undefined)

/** Waits until an alert fires no more. */
const ceases = (alert: string) =>
  until(`the end of ${alert}`, async () => (await night.prometheus.firing()).includes(alert) ? undefined : true)

const crashes: Step = {
  name: "kill -9",
  title: "a process that is killed is named by the alert WacDown, the other one serves, and no send is lost or doubled",
  carryOut: async (says) => {
    for (const process of night.processes) {
      await process.kill()
      await fires("WacDown")
      says(`${process.name} killed: the alert WacDown fires`)
      const other = night.processes.find((each) => each !== process)!
      assert.strictEqual((await call(`${other.url}/readyz`)).status, 200)
      says(`${other.name}: /readyz 200`)
      await process.start(night.setting)
      await ceases("WacDown")
      await night.flows()
      says(`${process.name} started again: ready, the alert ends`)
    }
  }
}

const steps: ReadonlyArray<Step> = [crashes]

describe("an operator's night", Night.needed, () => {
  beforeAll(async () => {
    packed = Night.installed()
    night = await Night.start(packed)
    await night.flows()
  }, bound)

  afterAll(async () => {
    await night.close()
    await packed.remove()
  }, bound)

  for (const { carryOut, name, title } of steps) {
    it(title, async () => {
      night.load.enter(name)
      await carryOut((words) => note(name, words))
    }, bound)
  }

  it("at its end every accepted send was sent once and every event received in order, and the rest is named unknown", async () => {
    night.load.enter("the end")
    await night.load.rest(night.repeating)
    await until("every event", () => Record.isDelivered(night) || undefined).catch(() => undefined)
    const ends = await Record.judge(night)
    const table = Record.table(said, ends)
    process.stdout.write(table)
    const all = [...ends.values()]
    assert.deepStrictEqual(all.flatMap(({ lost }) => lost), [])
    assert.deepStrictEqual(all.flatMap(({ doubled }) => doubled), [])
    assert.deepStrictEqual(night.receiver.forged, [])
  }, bound)
})
