/**
 * The operator's night: what can happen to an installation happens to the packed server while callers send. In each
 * step the service says what is wrong, at its addresses, in its log, its metrics and its alerts; it recovers by itself;
 * and nothing is lost or doubled. It takes minutes, so `npm run long -- night` runs it and `npm test` does not.
 */
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { call, did } from "../Caller.ts"
import * as PackedServer from "../PackedServer.ts"
import { until } from "../Surroundings.ts"
import * as Earlier from "./Earlier.ts"
import * as Night from "./Night.ts"
import type { Process } from "./Process.ts"
import * as Record from "./Record.ts"

let packed: PackedServer.PackedServer
let night: Night.Night

/** What was said, by the step. */
const said = new Map<string, Array<string>>()

/** Notes what the service said in a step, which was asserted. */
type Says = (words: string) => void

/** A step. Each begins once the one before has ended. */
interface Step {
  readonly name: string
  /** What holds. */
  readonly title: string
  readonly carryOut: (says: Says) => Promise<void>
}

/** A trouble that ends, whatever was found meanwhile, so that the steps after it have none. */
const during = async (
  begin: () => unknown,
  end: () => unknown,
  look: () => Promise<void>
): Promise<void> => {
  try {
    await begin()
    await look()
  } finally {
    await end()
  }
}

/** Waits until a condition holds. */
const holds = (what: string, condition: () => Promise<boolean> | boolean) =>
  until(what, async () => await condition() ? true : undefined)

/** Waits until an alert fires. */
const fires = async (says: Says, alert: string) => {
  await holds(`the alert ${alert}`, async () => (await night.prometheus.firing()).includes(alert))
  says(`Prometheus: ${alert} fires`)
}

/** Waits until callers are served again and nothing is wrong any more. */
const recovers = async (says: Says) => {
  await night.flows()
  // that the machine is slow is no trouble of the service
  const firing = async () => (await night.prometheus.firing()).filter((name) => name !== "WacSlow")
  await holds("the end of all alerts", async () => (await firing()).length === 0)
  assert.deepStrictEqual(await night.doctor(), [])
  says("afterwards: /readyz 200, sends are accepted, no alert fires but WacSlow at most, doctor finds nothing wrong")
}

/** Waits until each process, at `/readyz`, says that it is not ready and why. */
const isNotReady = async (says: Says, why: string) => {
  for (const { name, url } of night.processes) {
    await holds(`${name} says ${why}`, async () => {
      const { status, text } = await call(`${url}/readyz`)
      return status === 503 && text.includes(why)
    })
    await holds(`${name} is down at /status`, async () => {
      const { body, status } = await call(`${url}/status`)
      return status === 503 && body.parts.requests === "down"
    })
    says(`${name}: /readyz 503 "${why}", /status 503 down`)
  }
}

/** Whether each process is ready, and reports that its requests work. */
const isReady = async (says: Says) => {
  for (const { name, url } of night.processes) {
    const [ready, status] = [await call(`${url}/readyz`), await call(`${url}/status`)]
    assert.strictEqual(ready.status, 200, ready.text)
    // deliveries may be late, on a slow machine or to a receiver that is down
    assert.deepStrictEqual([status.status, status.body.parts.requests], [200, "operational"])
    says(`${name}: /readyz 200, /status ${status.status} ${status.body.status}`)
  }
}

/** Waits until `doctor` finds something wrong in these words. */
const doctorSays = async (says: Says, words: RegExp) => {
  const wrong = await until(
    `doctor finds ${words}`,
    async () => (await night.doctor()).find((each) => words.test(each))
  )
  says(`doctor: ${wrong}`)
}

/** Waits for a line in the log of a process after the first so many ones. */
const logs = async (says: Says, process: Process, from: number, words: RegExp) => {
  const line = await until(
    `a line with ${words}`,
    () => process.lines().slice(from).find((line) => words.test(JSON.stringify(line)))
  )
  says(`the log of ${process.name}: ${line["level"]} ${JSON.stringify(line["message"])}`)
}

/** What callers of a step were answered before their messages were accepted. */
const answers = (name: string): ReadonlyArray<string> =>
  [...new Set(night.load.sends.filter(({ step }) => step === name).flatMap(({ tries }) => tries))].sort()

const calm: Step = {
  name: "at rest",
  title:
    "at rest no alert fires, doctor finds nothing wrong, and the database is reached by TLS and the service's role alone",
  carryOut: async (says) => {
    await recovers(says)
    const sessions = (isSafe: boolean) =>
      night.postgres.ask(
        "postgres",
        `select count(*) from pg_stat_activity join pg_stat_ssl using (pid)
         where application_name like 'wac%' and (ssl and usename = 'wac_service') = ${isSafe}`
      )
    assert.isAbove(Number(await sessions(true)), 2)
    assert.strictEqual(await sessions(false), "0")
    assert.isAbove(night.receiver.events.size, 0)
    says("every session of the service has TLS and the role that owns no table; the receiver verifies every event")
  }
}

const upgrade: Step = {
  name: "upgrade",
  title: "an upgrade from an earlier version, one process after the other, costs callers nothing but repetitions",
  carryOut: async (says) => {
    night.setting.packed = packed
    says(`migrate: ${(await night.migrate()).trim().split("\n").at(-1)}`)
    await night.flows()
    for (const process of night.processes) {
      await process.stop()
      await process.start(night.setting)
      await night.flows()
      says(`${process.name}: stopped with 0, the new version is ready`)
    }
    const seen = answers("upgrade")
    // a process that stops closes connections, refuses them, or asks to repeat; on a slow machine a provider is slow
    assert.deepStrictEqual(seen.filter((answer) => !/^(200|E[A-Z]+|503 .*|504 outcome_unknown)$/.test(answer)), [])
    says(`callers got: ${seen.join("; ")}`)
    await recovers(says)
  }
}

const logDisk: Step = {
  name: "log disk full",
  title: "a full disk of the log costs lines alone, which a metric and an alert count, and ends with the trouble",
  carryOut: async (says) => {
    await during(night.logDisk.fill, night.logDisk.free, async () => {
      for (const process of night.processes) {
        await holds("dropped lines", async () => await night.metric(process, "wac_log_lines_dropped_total") > 0)
        says(`${process.name}: wac_log_lines_dropped_total is above 0`)
      }
      await fires(says, "WacLogLinesDropped")
      await isReady(says)
      await night.flows()
      assert.deepStrictEqual(await night.doctor(), [])
    })
    const before = night.processes.map((process) => process.lines().length)
    for (const [i, process] of night.processes.entries()) {
      await holds("lines again", () => process.lines().length > before[i]! + 10)
      // the last one may not be whole yet
      const torn = process.lines().slice(before[i], -1).filter((line) => line["message"] === undefined)
      assert.isEmpty(torn)
    }
    says("with room again both logs go on in whole lines")
    await recovers(says)
  }
}

const databaseDisk: Step = {
  name: "database disk full",
  title: "a full disk of the database is named at every place, and the service recovers once there is room",
  carryOut: async (says) => {
    const from = night.first.lines().length
    const why = "storage cannot be written: the disk of the database is full"
    await during(night.postgres.disk.fill, night.postgres.disk.free, async () => {
      await isNotReady(says, why)
      // a session begins only if there is room for its catalogue
      await doctorSays(says, /the disk of the database is full|could not write init file/)
      await logs(says, night.first, from, /No space left on device/)
      await fires(says, "WacErrorBudgetBurns")
      assert.include(answers("database disk full"), "503 storage_unavailable")
      says("callers got: 503 storage_unavailable")
    })
    await recovers(says)
  }
}

const databaseDown: Step = {
  name: "PostgreSQL stopped",
  title: "while PostgreSQL is stopped callers are told to repeat, and the service recovers once it is back",
  carryOut: async (says) => {
    const from = night.first.lines().length
    const { start, stop } = night.postgres.server
    await during(stop, start, async () => {
      await isNotReady(says, "storage is not reachable")
      await doctorSays(says, /database|PostgreSQL/i)
      await logs(says, night.first, from, /storage_unavailable|not reachable|ECONNREFUSED/)
      await fires(says, "WacErrorBudgetBurns")
      assert.include(answers("PostgreSQL stopped"), "503 storage_unavailable")
      says("callers got: 503 storage_unavailable; /metrics still responds")
    })
    await recovers(says)
  }
}

const receiverDown: Step = {
  name: "receiver down",
  title: "while a receiver is down its events wait and the rest goes on, and all of them arrive once it is back",
  carryOut: async (says) => {
    await during(night.receiver.down, night.receiver.up, async () => {
      await holds("a failing webhook", async () => await night.metric(night.first, `wac_webhooks{state="failing"}`) > 0)
      says(`wac_webhooks{state="failing"} is above 0`)
      await doctorSays(says, /^https:\/\/127\.0\.0\.1:\d+\S* of ws_\w+ cannot be reached/)
      const shown = await night.wac("webhook", "show")
      assert.match(shown, /failing|cannot be reached|refused/i)
      says(`webhook show: ${shown.split("\n").find((line) => /fail|refused/i.test(line))?.trim()}`)
      await isReady(says)
      await fires(says, "WacReceiversBehind")
      await night.flows()
    })
    await holds("the events that waited", () => Record.isDelivered(night))
    says("with the receiver back every event that waited arrives")
    await recovers(says)
  }
}

const crashes: Step = {
  name: "kill -9",
  title: "a process that is killed is named by the alert WacDown, and the other one serves",
  carryOut: async (says) => {
    for (const process of night.processes) {
      const other = night.processes.find((each) => each !== process)!
      await during(process.kill, () => process.start(night.setting), async () => {
        await fires(says, "WacDown")
        assert.strictEqual((await call(`${other.url}/readyz`)).status, 200)
        says(`${process.name} is killed, ${other.name}: /readyz 200`)
      })
      await recovers(says)
    }
  }
}

const restore: Step = {
  name: "restore",
  title: "a restored dump goes on with what it has, its campaigns wait for a person, and later sends are not known",
  carryOut: async (says) => {
    const { first, load, postgres, processes, session, setting } = night
    const campaigns = `${first.url}/internal/campaigns`
    const { body: { id } } = await did(campaigns, {
      headers: { ...session, "idempotency-key": crypto.randomUUID() },
      json: {
        name: "Tomorrow",
        template: { name: "hello_world", language: "en_US" },
        startAt: new Date(Date.now() + 3_600_000).toISOString()
      }
    })
    const shown = () => call(`${campaigns}/${id}`, { headers: session })
    await did(`${campaigns}/${id}/recipients`, {
      method: "PUT",
      headers: { ...session, "content-type": "application/x-ndjson" },
      body: "{\"to\":\"+12025550001\"}\n"
    })
    await did(`${campaigns}/${id}/check`, { method: "POST", headers: session })
    await holds("the check of the campaign", async () => (await shown()).body.status === "ready")
    await did(`${campaigns}/${id}/start`, { method: "POST", headers: session })

    // an event after the dump is recorded anew, under another id
    const known = new Set(load.sends.filter((send) => Record.isOver(night, send)))
    const dump = join(night.directory, "wac.dump")
    await postgres.run("pg_dump", "--format=custom", `--file=${dump}`, postgres.clientUrlOf("wac"))
    await night.flows()
    await load.rest(night.repeating)
    await holds("every event", () => Record.isDelivered(night))
    const undone = load.sends.filter((send) => !known.has(send))
    for (const send of undone) send.isUndone = true
    for (const process of processes) await process.stop()
    load.resume()

    await postgres.run("createdb", `--maintenance-db=${postgres.clientUrlOf("postgres")}`, "wac_restored")
    await postgres.run("pg_restore", "--exit-on-error", `--dbname=${postgres.clientUrlOf("wac_restored")}`, dump)
    const from = first.lines().length
    const restored = { ...setting.variables, DATABASE_URL: postgres.urlOf("wac_restored", "service") }
    setting.variables = { ...restored, WAC_RESTORED: "true" }
    for (const process of processes) await process.start(setting)
    await logs(says, first, from, /the database was restored from a backup/)
    await holds("the paused campaign", async () => (await shown()).body.pausedReason === "restored")
    assert.include(await night.wac("campaigns", "list"), "Tomorrow")
    says("campaigns list: Tomorrow waits, paused with the reason restored")
    const { messageId } = undone.findLast((send) => send.messageId !== undefined)!
    const { status } = await call(`${first.url}/v1/messages/${messageId}`, {
      headers: { authorization: night.authorization }
    })
    assert.strictEqual(status, 404)
    says(`GET of a message since the backup: 404; ${undone.length} such sends are named unknown`)
    await night.wac("campaigns", "confirm")
    await holds("the campaign goes on", async () => (await shown()).body.status === "scheduled")
    setting.variables = restored
    for (const process of processes) {
      await process.stop()
      await process.start(setting)
    }
    says("campaigns confirm: scheduled again; the processes run without WAC_RESTORED")
    await recovers(says)
  }
}

const steps: ReadonlyArray<Step> = [
  calm,
  upgrade,
  logDisk,
  databaseDisk,
  databaseDown,
  receiverDown,
  crashes,
  restore
]

describe("an operator's night", Night.needed, () => {
  const { close, keep } = Night.keeper()
  beforeAll(async () => {
    const install = async (server: Promise<PackedServer.PackedServer>) => keep(await server, ({ remove }) => remove())
    packed = await install(Promise.resolve(PackedServer.install(inject("packed"))))
    night = await Night.start(keep, await install(Earlier.install()))
  })
  afterAll(close)

  for (const { carryOut, name, title } of steps) {
    it(title, async () => {
      night.load.enter(name)
      const words: Array<string> = []
      said.set(name, words)
      await carryOut((each) => words.push(each))
    })
  }

  it("at its end, every accepted send was sent once, every event received in order, and the rest is named unknown", async () => {
    night.load.enter("the end")
    await night.load.rest(night.repeating)
    await holds("every event", () => Record.isDelivered(night)).catch(() => {})
    const ends = await Record.judge(night)
    process.stdout.write(Record.table(said, ends))
    const all = [...ends.values()]
    assert.deepStrictEqual(all.flatMap(({ lost }) => lost), [])
    assert.deepStrictEqual(all.flatMap(({ doubled }) => doubled), [])
    assert.deepStrictEqual(night.receiver.forged, [])
    for (const path of ["/v1/traces", "/v1/metrics", "/v1/logs"]) {
      assert.isNotEmpty(night.collector.posts.filter((post) => post.path === path), path)
    }
  })
})
