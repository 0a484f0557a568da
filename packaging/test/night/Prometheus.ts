/**
 * Debian's Prometheus with the rules of `deploy/prometheus`, which looks every two seconds.
 */
import * as Daemon from "@wac/testbed/Daemon"
import * as FreePort from "@wac/testbed/FreePort"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../Published.ts"

/**
 * The rules with shorter times, so that a night passes in minutes. The expressions, names and thresholds are as they
 * are; each of the replaced times must occur.
 */
const shortened = (): string =>
  ([
    [/^( +interval:) 30s$/gm, "$1 1s"],
    [/^( +for:) \d+m$/gm, "$1 3s"],
    [/\[5m\]/g, "[20s]"],
    [/\[15m\]/g, "[20s]"],
    [/\[1h\]/g, "[40s]"]
  ] as const).reduce((text, [time, short]) => {
    if (!time.test(text)) throw new Error(`the rules have no ${time}`)
    return text.replaceAll(time, short)
  }, readFileSync(join(root, "deploy/prometheus/rules.yml"), "utf8"))

/** Starts it, for processes at `127.0.0.1:port`. */
export const start = async (targets: ReadonlyArray<string>, token: string) => {
  const directory = await Daemon.directory("wac-prometheus-")
  const port = await FreePort.find()
  writeFileSync(join(directory, "rules.yml"), shortened())
  writeFileSync(
    join(directory, "prometheus.yml"),
    JSON.stringify({
      global: { scrape_interval: "2s", scrape_timeout: "2s", evaluation_interval: "1s" },
      rule_files: ["rules.yml"],
      scrape_configs: [{
        job_name: "wac",
        authorization: { credentials: token },
        static_configs: [{ targets }]
      }]
    })
  )
  const daemon = await Daemon.start("prometheus", [
    `--config.file=${join(directory, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(directory, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--log.level=warn"
  ], { port, cwd: directory })
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    return (await response.json()).data
  }
  return {
    /** The names of the alerts that fire. */
    firing: async (): Promise<ReadonlyArray<string>> => {
      const { alerts }: {
        readonly alerts: ReadonlyArray<{ readonly state: string; readonly labels: { readonly alertname: string } }>
      } = await get("alerts")
      return [...new Set(alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels.alertname))].sort()
    },
    /** The sum of a query's values. */
    sum: async (query: string): Promise<number> => {
      const { result }: { readonly result: ReadonlyArray<{ readonly value: readonly [number, string] }> } = await get(
        `query?query=${encodeURIComponent(query)}`
      )
      return result.reduce((sum, { value }) => sum + Number(value[1]), 0)
    },
    close: async () => {
      daemon.kill("SIGKILL")
      await daemon.ended
      rmSync(directory, { recursive: true, force: true })
    }
  }
}
