/**
 * What watches the service: alert rules, their tests and runbooks, and the Grafana dashboard, against the metrics that
 * exist.
 */
import * as Program from "@wac/testbed/Program"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { parse } from "yaml"
import { root } from "../../Published.ts"

const run = promisify(execFile)
const read = (path: string): string => readFileSync(join(root, path), "utf8")
const needed = Program.needed({
  programs: ["promtool"],
  untested: "Prometheus' rules",
  install: "apt-get install prometheus"
})
const prometheus = join(root, "deploy/prometheus")

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly annotations?: { readonly runbook: string; readonly summary: string }
}

const rules: ReadonlyArray<Rule> = parse(read("deploy/prometheus/rules.yml"))
  .groups.flatMap(({ rules }: { readonly rules: ReadonlyArray<Rule> }) => rules)
const alerts = rules.filter(({ alert }) => alert !== undefined)
const recorded = rules.flatMap(({ record }) => record === undefined ? [] : [record])

const dashboard = JSON.parse(read("deploy/grafana/wac.json"))
const queries: ReadonlyArray<string> = dashboard.panels.flatMap(
  ({ targets }: { readonly targets: ReadonlyArray<{ readonly expr: string }> }) => targets.map(({ expr }) => expr)
)

/** The series of every metric that the sources declare. */
const series: ReadonlySet<string> = new Set(
  [...readdirSync(join(root, "packages")).map((name) => join("packages", name, "src")), "apps/server/src"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => read(join(folder, file)))
    )
    .flatMap((source) => [...source.matchAll(/(Metric\.(?:counter|gauge)|LatencyHistogram\.make)\(\s*"(\w+)"/g)])
    .flatMap(([, maker, name]) =>
      maker === "LatencyHistogram.make" ? ["bucket", "sum", "count"].map((part) => `${name}_${part}`) : [name!]
    )
)

/** The names of our series in an expression. */
const namesIn = (expression: string): ReadonlyArray<string> =>
  [...expression.matchAll(/\b(?:wac[_:]|process_|nodejs_)[\w:]+/g)].map(([name]) => name)

const known = (name: string): boolean => series.has(name) || recorded.includes(name)

describe("what watches the service", () => {
  it("every series that a rule, the dashboard or a guide names exists", () => {
    assert.isAbove(series.size, 15)
    const named = [...rules.map(({ expr }) => expr), ...queries].flatMap(namesIn)
    assert.isAbove(named.length, 30)
    assert.deepEqual(named.filter((name) => !known(name)), [])
    for (const guide of ["docs/guides/watching.md", "docs/guides/runbooks.md", "docs/guides/operating.md"]) {
      const inGuide = [...read(guide).matchAll(/`[^`]*`/g)].flatMap(([code]) => namesIn(code))
        .filter((name) => !/^wac(_live|_roles|:secret)/.test(name))
      // a guide may name a histogram as a whole
      assert.deepEqual(inGuide.filter((name) => !known(name) && !known(`${name}_bucket`)), [], guide)
    }
  })

  it("every metric is on the dashboard", () => {
    const shown = [...queries, ...rules.map(({ expr }) => expr)].flatMap(namesIn)
    const metrics = [...series].filter((name) => !/_(sum|count)$/.test(name))
    assert.deepEqual(metrics.filter((name) => !shown.includes(name)), [])
  })

  it("every alert has a summary and a runbook, and no runbook is without its alert", () => {
    const headings = [...read("docs/guides/runbooks.md").matchAll(/^## (\w+)$/gm)].map(([, name]) => name!)
    assert.deepEqual(alerts.map(({ alert }) => alert!).sort(), headings.sort())
    for (const { alert, annotations } of alerts) {
      assert.isNotEmpty(annotations?.summary)
      assert.strictEqual(annotations?.runbook, `docs/guides/runbooks.md#${alert!.toLowerCase()}`)
    }
  })

  it("every panel has a title, a place of its own and a unit", () => {
    const places = dashboard.panels.map((panel: ReturnType<typeof JSON.parse>) => {
      assert.isNotEmpty(panel["title"])
      assert.isNotEmpty(panel["fieldConfig"].defaults.unit)
      return `${panel["gridPos"].x} ${panel["gridPos"].y}`
    })
    assert.strictEqual(new Set(places).size, places.length)
  })

  it("promtool finds the rules, their tests and the configuration right", needed, async () => {
    await run("promtool", ["check", "rules", "rules.yml"], { cwd: prometheus })
    const { stdout } = await run("promtool", ["test", "rules", "rules.test.yml"], { cwd: prometheus })
    assert.include(stdout, "SUCCESS")
    await run("promtool", ["check", "config", "--syntax-only", "prometheus.yml"], { cwd: prometheus })
  })
})
