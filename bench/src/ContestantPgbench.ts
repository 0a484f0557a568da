/**
 * Contestant (c): pgbench, PostgreSQL's own load generator, running the two transactions of a send. It shows what the
 * database alone can do, with one send per call. Starts pgbench and writes its logs to a temporary directory.
 */
import { Effect, type Scope } from "effect"
import { spawn } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { because, BenchFailed } from "./BenchFailed.ts"
import { type Contestant, counting } from "./Contestant.ts"
import { furnish } from "./ContestantFastify.ts"
import type { Cluster } from "./Database.ts"
import type { Load, Round } from "./Load.ts"
import * as ProcessUse from "./ProcessUse.ts"
import { percentile } from "./Statistics.ts"
import * as TwoTransactions from "./TwoTransactions.ts"
import * as Workload from "./Workload.ts"

const clients = 32
const threads = 2

const content = Workload.bodyTo(Workload.customer(0))

/** pgbench treats a colon followed by a name as a variable, so JSON constants are hex-encoded. */
const quoted = (json: string): string => `convert_from('\\x${Buffer.from(json).toString("hex")}', 'UTF8')`

const script = `
\\set key random(1, 9000000000000000000)
\\set claim random(1, 9000000000000000000)
\\set customer random(0, ${Workload.customers - 1})
${
  TwoTransactions.accept({
    workspace: "1",
    apiKey: "1",
    key: ":key::text",
    fingerprint: "'\\x00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'::bytea",
    claim: "md5(:claim::text)::uuid",
    recipient: "'+1555' || lpad(:customer::text, 7, '0')",
    content: `${quoted(content)}::jsonb`
  })
};
${
  TwoTransactions.settle({
    workspace: "1",
    key: ":key::text",
    claim: "md5(:claim::text)::uuid",
    answer: `${quoted(content)}::json`,
    providerMessageId: "'wamid.' || :key::text",
    data: `${quoted(content)}::jsonb`
  })
};
`

/** Finds the newest pgbench, in the PATH or in Debian's directories. */
const find = (): string | undefined => {
  const debian = "/usr/lib/postgresql"
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  return [
    ...(process.env["PATH"] ?? "").split(delimiter),
    ...versions.map((version) => join(debian, version, "bin"))
  ].map((directory) => join(directory, "pgbench")).find((file) => existsSync(file))
}

const run = (
  command: string,
  args: ReadonlyArray<string>,
  sample: (pid: number) => Promise<void>
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] })
    const sampling = setInterval(() => void sample(child.pid!), 100)
    let output = ""
    let errors = ""
    child.stdout.on("data", (chunk: Buffer) => output += chunk.toString())
    child.stderr.on("data", (chunk: Buffer) => errors += chunk.toString())
    child.once("error", reject).once("close", (status) => {
      clearInterval(sampling)
      if (status === 0) resolve(output)
      else reject(new Error(errors.slice(-1000)))
    })
  })

export const start = (cluster: Cluster): Effect.Effect<Contestant, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const command = find()
    if (command === undefined) {
      return yield* new BenchFailed({
        message: "there is no pgbench: install it (Debian: apt-get install postgresql-contrib), or leave it out with " +
          "--no-pgbench"
      })
    }
    const database = yield* cluster.database("wac_bench_pgbench")
    yield* furnish(database, "no key is looked up")
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "wac-pgbench-"))),
      (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
    )
    const file = join(directory, "send.sql")
    yield* Effect.promise(() => writeFile(file, script))
    let memory: number | undefined
    /** The processor time of the previous rounds. */
    let processor = 0

    const round = async (until: Load["until"], connections: number): Promise<Round> => {
      const logs = join(directory, "logs")
      await mkdir(logs)
      let used = 0
      const sample = async (pid: number) => {
        memory = await ProcessUse.peakMemory(pid) ?? memory
        used = await ProcessUse.processorTime(pid) ?? used
      }
      const output = await run(command, [
        "--no-vacuum",
        "--protocol=prepared",
        `--file=${file}`,
        `--client=${connections}`,
        `--jobs=${Math.min(threads, connections)}`,
        "seconds" in until ? `--time=${until.seconds}` : `--transactions=${Math.ceil(until.sends / connections)}`,
        "--log",
        `--log-prefix=${join(logs, "log")}`,
        database.url
      ], sample)
      processor += used
      const texts = await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), "utf8")))
      await rm(logs, { recursive: true })
      // the fields of a log line: client, transaction, microseconds, …
      const latencies = texts.flatMap((text) => text.trimEnd().split("\n")).map((line) =>
        Number(line.split(" ")[2]) / 1000
      )
      const perSecond = /^tps = ([\d.]+)/m.exec(output)
      const failed = /^number of failed transactions: (\d+)/m.exec(output)
      if (perSecond === null || failed?.[1] !== "0") throw new Error(`not what was expected: ${output}`)
      latencies.sort((a, b) => a - b)
      return {
        sends: latencies.length,
        perSecond: Number(perSecond[1]),
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
        cutOff: 0
      }
    }

    return {
      name: "pgbench",
      round: ({ connections, until }) =>
        Effect.tryPromise({ try: () => round(until, Math.min(clients, connections)), catch: because("pgbench") }),
      use: Effect.sync(() => ({ memory, processor: memory === undefined ? undefined : processor })),
      database,
      complete: counting(database, TwoTransactions.complete)
    }
  })
