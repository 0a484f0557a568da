import { assert, describe, it } from "vitest"
import * as Faults from "../Faults.ts"
import * as Table from "../Table.ts"
import * as Trial from "../Trial.ts"

const outcome: Trial.Outcome = {
  fault: { ...Faults.all[0]!, name: "some-fault", about: "Something happens" },
  sends: 7,
  lost: [],
  doubled: [],
  replayed: 2,
  repeated: 1,
  unknown: ["+13030000001"],
  refused: [],
  recovery: 1.25,
  broken: []
}

/** For what hangs: how long recovery takes on a slow machine is no matter of a test. */
const patience = 240_000

describe("faults", () => {
  for (const name of ["postgres-restarted", "provider-lies"]) {
    it(`no message is lost or doubled by ${name}`, async () => {
      const found = await Trial.run(Faults.all.find((fault) => fault.name === name)!, 2, patience)
      assert.isTrue(Trial.isKept(found), Table.wrong(found))
    })
  }

  it("each fault has a name of its own", () => {
    const names = Faults.all.map(({ name }) => name)
    assert.deepStrictEqual([...new Set(names)], names)
  })

  it("the table has a line for each fault and names the promises that were broken", () => {
    const [, , kept, broken] = Table.of([
      outcome,
      {
        ...outcome,
        recovery: undefined,
        doubled: ["+1"],
        broken: [{ promise: "event-once", section: 6, found: "twice", evidence: [] }]
      }
    ]).split("\n")
    const cellsOf = (line = "") => line.replaceAll(/ +/g, " ")
    assert.strictEqual(cellsOf(kept), "| Something happens | 7 | 0 | 0 | 1 | 2 | 1 | 1.3 | kept |")
    assert.strictEqual(cellsOf(broken), "| Something happens | 7 | 0 | 1 | 1 | 2 | 1 | not seen | `event-once` |")
  })
})
