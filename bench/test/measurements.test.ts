import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { promisify } from "node:util"

const main = `${import.meta.dirname}/../src/main.ts`

const run = (args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = process.env) =>
  promisify(execFile)(process.execPath, ["--conditions=source", main, ...args], { env })

/** Returns the output of a measurement. Rejects with all output if the run is invalid or does not start. */
const measure = async (line: string): Promise<string> => (await run(line.split(" "))).stdout

it("an invalid run fails and reports why", async () => {
  const failure = await run(["sends"], { ...process.env, BENCH_DATABASE_URL: "postgres://127.0.0.1:1/nowhere" }).then(
    () => undefined,
    (error: { readonly code: number; readonly stderr: string }) => error
  )
  assert.strictEqual(failure?.code, 1)
  assert.match(failure!.stderr, /^The run is invalid: PostgreSQL cannot be reached/m)
})

/**
 * Runs each measurement at its smallest. The numbers mean nothing; the test is that the measurement runs and passes its
 * own checks.
 */
describe("every measurement runs", () => {
  it("clock measures fake days", async () => {
    assert.match(await measure("clock --rounds 1"), /24 hours +\|? *\d+\.\d\d/)
  })

  it("start compares storages with a bare process", async () => {
    const printed = await measure("start --rounds 1 --idle 1")
    for (const name of ["bare Node", "wac, memory:", "wac, pglite:", "wac, postgres:"]) {
      assert.match(printed, new RegExp(`${name} .*\\d`))
    }
    assert.match(printed, /^ready with memory: after [\d,]+ ms .*(met|missed)/m)
  })

  it("embed measures the façade", async () => {
    const printed = await measure("embed --rounds 1 --calls 40 --callers 4")
    assert.match(printed, /^a send of the façade +\d/m)
    assert.match(printed, /^façade \/ core, which reads its message +\d.*\(goal: at most 1\.05; (met|missed)\)$/m)
    assert.match(printed, /^the fetch handler +\d/m)
    assert.match(printed, /^fetch handler \/ route +\d.*\(goal: at most 1; (met|missed)\)$/m)
  })

  it("verify compares verifiers", async () => {
    const printed = await measure("verify --rounds 1 --milliseconds 5")
    assert.match(printed, /^receive over stripe constructEvent/m)
    assert.match(printed, /^verify over stripe verifyHeader/m)
  })

  it("sends compares the contestants", async () => {
    const printed = await measure("sends --no-pgbench --connections 4 --rounds 1 --seconds 1 --warm-up 1")
    assert.match(printed, /^a\/b +\d/m)
    assert.match(printed, /^a {2}over HTTP +\d/m)
    assert.match(printed, /^a {2}without HTTP\D+\d/m)
    assert.match(printed, /^a send of the core \/ its round trips +\d.*\(goal: at most 1\.3; (met|missed)\)$/m)
    assert.match(printed, /^a send over HTTP \/ its round trips +\d.*\(goal: at most 1\.3; (met|missed)\)$/m)
  })

  it("growth measures stored messages", async () => {
    const printed = await measure("growth --stored 0,1000 --connections 4 --rounds 1 --seconds 1 --warm-up 1")
    assert.match(printed, /^1,000 messages \/ 0 messages +\d/m)
  })

  it("deliveries compares job queues", async () => {
    const printed = await measure("deliveries --no-bullmq --webhooks 4 --events 200 --rounds 1 --seconds 1")
    assert.match(printed, /^a\/b +\d/m)
    assert.match(printed, /^a +p99 +\d/m)
  })

  it("neighbours measures dead receivers", async () => {
    const printed = await measure("neighbours --healthy 4 --dead 3 --backlog 30 --per-second 20 --seconds 1")
    assert.match(printed, /^3 dead: attempts by outcome: /m)
    assert.match(printed, /^quiet again/m)
  })

  it("dashboard measures lists and clicks", async () => {
    const printed = await measure("dashboard --stored 500 --repetitions 1")
    assert.match(printed, /^a page of a list over HTTP, p75 ms +\d.*\(goal: at most 100; (met|missed)\)$/m)
    assert.match(printed, /^an interaction, p75 ms +\d.*\(goal: at most 100; (met|missed)\)$/m)
  })

  it("campaign measures pace, cost and memory", async () => {
    const printed = await measure("campaign --rounds 1 --seconds 1 --recipients 50,100 --kills 1")
    assert.match(printed, /^mean \/ share +\d.*\(goal: at least 0\.95 and at most 1\.05; (met|missed)\)$/m)
    assert.match(printed, /^most in one second \/ share +\d.*\(goal: at most 1\.1; (met|missed)\)$/m)
    assert.match(printed, /^p99 of a send beside the campaign \/ alone +\d.*\(goal: at most 2; (met|missed)\)/m)
    assert.match(printed, /^the last call after a pause, ms +\d+.*\(goal: at most 1000; (met|missed)\)$/m)
    assert.match(printed, /^memory with 100 recipients \/ with 50 +\d/m)
    assert.match(printed, /^most in one second \/ share, with kills +\d.*\(goal: at most 1\.1; (met|missed)\)$/m)
  })

  it("held measures waiting deliveries", async () => {
    const printed = await measure("held --retries 2000 --held 2000 --seconds 1 --repetitions 2")
    assert.match(printed, /^bytes a waiting retry +-?\d/m)
    assert.match(printed, /^pause +2 /m)
    assert.match(printed, /^the slowest of the pauses and resumes, median ms +\d/m)
  })
})
