import { assert, describe, it } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
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

/** A measurement at its smallest, and what it prints. */
type Smallest = readonly [title: string, line: string, printed: ReadonlyArray<RegExp>]

const short: ReadonlyArray<Smallest> = [
  ["clock measures fake days", "clock --rounds 1", [/24 hours +\|? *\d+\.\d\d/]],
  ["embed measures the façade", "embed --rounds 1 --calls 40 --callers 4", [
    /^a send of the façade +\d/m,
    /^façade \/ core, which reads its message +\d.*\(goal: at most 1\.05; (met|missed)\)$/m,
    /^the fetch handler +\d/m,
    /^fetch handler \/ route +\d.*\(goal: at most 1; (met|missed)\)$/m
  ]],
  ["verify compares verifiers", "verify --rounds 1 --milliseconds 5", [
    /^receive over stripe constructEvent/m,
    /^verify over stripe verifyHeader/m
  ]]
]

/** Those that take 20 to 50 seconds each. */
const long: ReadonlyArray<Smallest> = [
  ["sends compares the contestants", "sends --no-pgbench --connections 4 --rounds 1 --seconds 1 --warm-up 1", [
    /^a\/b +\d/m,
    /^a {2}over HTTP +\d/m,
    /^a {2}without HTTP\D+\d/m,
    /^a send of the core \/ its round trips +\d.*\(goal: at most 1\.3; (met|missed)\)$/m,
    /^a send over HTTP \/ its round trips +\d.*\(goal: at most 1\.3; (met|missed)\)$/m,
    /^processor time of a message in a batch \/ by a call +\d.*\(goal: at most 0\.33; (met|missed)\)$/m
  ]],
  ["start compares storages with a bare process", "start --rounds 1 --idle 1", [
    /bare Node .*\d/,
    /wac, memory: .*\d/,
    /wac, pglite: .*\d/,
    /wac, postgres: .*\d/,
    /^ready with memory: after [\d,]+ ms .*(met|missed)/m
  ]],
  [
    "growth measures stored messages",
    "growth --stored 0,1000 --connections 4 --rounds 1 --seconds 1 --warm-up 1",
    [/^1,000 messages \/ 0 messages +\d/m]
  ],
  ["deliveries compares job queues", "deliveries --no-bullmq --webhooks 4 --events 200 --rounds 1 --seconds 1", [
    /^a\/b +\d/m,
    /^a +p99 +\d/m,
    /^The highest rate whose p99 .*\n.*\na +wac +[\d,]+/m
  ]],
  ["neighbours measures dead receivers", "neighbours --healthy 4 --dead 3 --backlog 30 --per-second 20 --seconds 1", [
    /^3 dead: attempts by outcome: /m,
    /^quiet again/m
  ]],
  ["dashboard measures lists and clicks", "dashboard --stored 500 --repetitions 1", [
    /^a page of a list over HTTP, p75 ms +\d.*\(goal: at most 100; (met|missed)\)$/m,
    /^a page of a conversation over HTTP, 500 messages stored, p99 ms +\d.*\(goal: at most 20; (met|missed)\)$/m,
    /^an interaction, p75 ms +\d.*\(goal: at most 100; (met|missed)\)$/m
  ]],
  ["campaign measures pace, cost and memory", "campaign --rounds 1 --seconds 1 --recipients 50,100 --kills 1", [
    /^mean \/ share +\d.*\(goal: at least 0\.95 and at most 1\.05; (met|missed)\)$/m,
    /^most in one second \/ share +\d.*\(goal: at most 1\.1; (met|missed)\)$/m,
    /^p99 of a send beside the campaign \/ alone +\d.*\(goal: at most 2; (met|missed)\)/m,
    /^the last call after a pause, ms +\d+.*\(goal: at most 1000; (met|missed)\)$/m,
    /^memory with 100 recipients \/ with 50 +\d/m,
    /^most in one second \/ share, with kills +\d.*\(goal: at most 1\.1; (met|missed)\)$/m
  ]],
  ["capacity measures what a message writes and leaves", "capacity --messages 60 --days 3", [
    /^bytes of WAL a message +\d{4,}$/m,
    /^100,000,000 +[\d,]+ GB$/m,
    /^3,000,000 +\d/m,
    /^a day of attempts dropped as a partition +\d.* of WAL$/m,
    /^a day deleted as rows +\d.* of WAL$/m,
    /^reindex table concurrently, of these tables +\d.* of WAL$/m
  ]],
  ["queue measures queued messages", "queue --seconds 1 --rounds 1 --waiting 5000", [
    /^p99 of a queued message after its time, ms +\d+ .*\(goal: at most 1000; (met|missed)\)$/m,
    /^p99 of a message beside a neighbour after its time, ms +\d+ .*\(goal: at most 1000; (met|missed)\)$/m,
    /^sends answered 429 beside a full queue +\d+ .*\(goal: at most 0; (met|missed)\)$/m,
    /^memory with 5,000 waiting \/ with an empty queue +\d.*\(goal: at most 1\.1; (met|missed)\)$/m,
    /^processor time of a send with 5,000 waiting \/ with an empty queue +\d.*\(goal: at most 1\.05; (met|missed)\)$/m
  ]],
  ["held measures waiting deliveries", "held --retries 2000 --held 2000 --seconds 1 --repetitions 2", [
    /^bytes a waiting retry +-?\d/m,
    /^pause +2 /m,
    /^the slowest of the pauses and resumes, median ms +\d/m
  ]]
]

/** The numbers mean nothing; the test is that the measurement runs and passes its own checks. */
describe("a measurement runs", () => {
  it.each(Extent.of(short, [...short, ...long]))("%s", async (_, line, printed) => {
    const output = await measure(line)
    for (const pattern of printed) assert.match(output, pattern)
  })
})
