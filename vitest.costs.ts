import { appendFileSync, readFileSync } from "node:fs"
import { afterAll, beforeAll, expect } from "vitest"

// Writes what each file of tests costs as a line of JSON into the file that VITEST_COSTS names: `VITEST_COSTS=/tmp/costs npm test`.

/** The kernel's unit of a process's times. */
const ticksPerSecond = 100

/** Seconds of processor time of this process's ended children, of which it has waited for. Linux only. */
const ofChildren = (): number => {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").replace(/^.*\) /s, "").split(" ")
    return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
  } catch {
    return Number.NaN
  }
}

const now = () => {
  const { system, user } = process.cpuUsage()
  return { at: performance.now(), own: (system + user) / 1e6, children: ofChildren() }
}

const file = process.env["VITEST_COSTS"]
if (file !== undefined) {
  let before = now()
  beforeAll(() => {
    before = now()
  })
  afterAll(() => {
    const after = now()
    const seconds = (one: number, other: number) => Number((other - one).toFixed(2))
    const costs = {
      file: expect.getState().testPath,
      wall: seconds(before.at / 1000, after.at / 1000),
      own: seconds(before.own, after.own),
      children: seconds(before.children, after.children)
    }
    appendFileSync(file, `${JSON.stringify(costs)}\n`)
  })
}
