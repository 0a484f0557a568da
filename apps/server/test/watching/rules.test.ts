/**
 * The alert rules against the series of a running server: each rule reads series that exist, failures before the
 * first one happens, and the rules' own tests invent none.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { parse } from "yaml"
import { unlimited, until } from "../checks.ts"
import { call, hello, ready, receiver, send, setWebhook } from "../harness.ts"
import { emptyDatabase, masterKey, postgres } from "../processes.ts"

const read = (name: string) =>
  parse(readFileSync(new URL(`../../../../deploy/prometheus/${name}`, import.meta.url), "utf8"))

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
}

const rules: ReadonlyArray<Rule> = read("rules.yml").groups.flatMap(({ rules }: { rules: ReadonlyArray<Rule> }) =>
  rules
)

/** A case of `promtool test rules`. */
interface Case {
  readonly input_series: ReadonlyArray<{ readonly series: string }>
  readonly alert_rule_test?: ReadonlyArray<{
    readonly alertname: string
    readonly exp_alerts: ReadonlyArray<object>
  }>
}

const cases: ReadonlyArray<Case> = read("rules.test.yml").tests

interface Series {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

const labelsIn = (text: string, operator: RegExp) =>
  [...text.matchAll(new RegExp(`(\\w+)(${operator.source})"([^"]*)"`, "g"))]
    .map(([, label, operator, value]) => ({ label: label!, operator: operator!, value: value! }))

const seriesOf = (line: string): Series => {
  const [, name, labels = "", value] = /^(\w+)(?:\{(.*)\})?(?: (\S+))?$/.exec(line)!
  return {
    name: name!,
    labels: new Map(labelsIn(labels, /=/).map(({ label, value }) => [label, value])),
    value: Number(value)
  }
}

const scrape = ({ url }: { readonly url: string }) =>
  Effect.map(
    call(`${url}/metrics`),
    ({ text }) => text.split("\n").filter((line) => line !== "" && !line.startsWith("#")).map(seriesOf)
  )

/** The service's own series in an expression, each with what it asks of labels. */
const selectorsIn = (expression: string) =>
  [...expression.matchAll(/\b(wac_\w+)(?:\{([^}]*)\})?/g)].map(([text, name, matchers = ""]) => {
    const asked = labelsIn(matchers, /=~|!~|!=|=/)
    const selects = (series: Series): boolean =>
      series.name === name && asked.every(({ label, operator, value }) => {
        const given = series.labels.get(label) ?? ""
        const fits = operator.endsWith("~") ? new RegExp(`^(?:${value})$`).test(given) : given === value
        return fits !== operator.startsWith("!")
      })
    return { text, selects }
  })

/** The part of a rule that counts what is wrong: a ratio's numerator. What it is a part of may begin at any number. */
const watchedBy = ({ expr }: Rule) => selectorsIn(expr.split("/ clamp_min")[0]!)

/**
 * The series of a server on PostgreSQL that has sent messages and delivered their events. How long a first attempt waited
 * counts once the webhook is known to work, so messages are sent until one is about such an attempt.
 */
const used = Effect.gen(function*() {
  const database = yield* Effect.flatMap(postgres, emptyDatabase)
  const server = yield* ready({
    environment: { ...unlimited, DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
  })
  yield* setWebhook(server, { url: (yield* receiver).url })
  yield* call(`${server.url}/internal/messages`, { headers: server.session })
  const { exported } = yield* until(
    Effect.all({ sent: Effect.map(send(server, hello()), ({ text }) => text), exported: scrape(server) }),
    ({ exported }) => exported.some(({ name }) => name === "wac_webhook_first_attempt_delay_seconds_count")
  )
  return exported
})

it.live("a running server has a series for each selector of a rule", () =>
  Effect.gen(function*() {
    const exported = yield* used
    const selectors = rules.flatMap(({ expr }) => selectorsIn(expr))
    assert.isAtLeast(selectors.length, 20)
    for (const { selects, text } of selectors) assert.isTrue(exported.some(selects), text)
  }))

it.live("no first failure makes a new series of those that a rule watches", () =>
  Effect.gen(function*() {
    const server = yield* ready()
    const before = new Set((yield* scrape(server)).map(({ labels, name }) => JSON.stringify([name, [...labels]])))
    for (let last = 0; last <= 9; last++) yield* send(server, hello(`+1500555000${last}`))
    const after = yield* scrape(server)
    const failed = after.filter(({ labels, name, value }) =>
      name === "wac_sends_total" && value > 0 && labels.get("outcome") !== "sent"
    )
    assert.includeMembers(failed.map(({ labels }) => labels.get("outcome")), ["failed", "not_sent", "unknown"])
    const watched = rules.flatMap(watchedBy)
    const late = after.filter((series) =>
      watched.some(({ selects }) => selects(series)) && !series.name.includes("_duration_") &&
      !before.has(JSON.stringify([series.name, [...series.labels]]))
    )
    assert.deepStrictEqual(late, [])
  }))

it.live("the rules' own tests read no series that a server does not have", () =>
  Effect.gen(function*() {
    const exported = yield* used
    const invented = cases.flatMap(({ input_series }) => input_series)
      .map(({ series }) => seriesOf(series.replaceAll(", ", ",")))
      .filter(({ name }) => name.startsWith("wac_"))
      .flatMap(({ labels, name }) => {
        const known = exported.filter((series) => series.name === name)
        return [...labels]
          // the scrape adds the first two; versions of Prometheus differ in `le`; any route may have any status
          .filter(([label]) => !["job", "instance", "le", "status"].includes(label))
          .filter(([label, value]) => !known.some(({ labels }) => labels.get(label) === value))
          .map(([label, value]) => `${name} ${label}=${value}`)
          .concat(known.length === 0 ? [name] : [])
      })
    assert.deepStrictEqual(invented, [])
  }))

it("each alert fires in a case of the rules' tests", () => {
  const fired = new Set(
    cases.flatMap(({ alert_rule_test = [] }) =>
      alert_rule_test.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname)
    )
  )
  assert.deepStrictEqual(rules.flatMap(({ alert }) => alert === undefined || fired.has(alert) ? [] : [alert]), [])
})
