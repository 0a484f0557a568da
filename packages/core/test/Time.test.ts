import { assert, describe, it } from "@effect/vitest"
import * as Time from "../src/Time.ts"

describe("the lead of another machine's clock", () => {
  it.each([
    ["0 if its time lies between request and response", 1500, 0],
    ["0 at either end", 1000, 0],
    ["what it is ahead of the response's arrival", 2300, 300],
    ["negative if it is behind the request", 700, -299],
    ["0 if its resolution explains why it is behind", 999, 0]
  ])("%s", (_, at, lead) => {
    assert.strictEqual(Time.certainLead({ at, resolution: 1 }, { begun: 1000, ended: 2000 }), lead)
  })

  it("a clock that shows whole seconds is up to a second ahead of what it shows", () => {
    assert.strictEqual(Time.certainLead({ at: 5000, resolution: 1000 }, { begun: 5990, ended: 6010 }), 0)
    assert.strictEqual(Time.certainLead({ at: 5000, resolution: 1000 }, { begun: 6100, ended: 6110 }), -100)
  })
})
