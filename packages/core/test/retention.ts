/**
 * The metrics of the deletion of expired records.
 */
import { Effect, Metric } from "effect"

/** What the metrics show of a kind of record: when all were last deleted, in seconds, and counts. */
export const retention = (kind: string) =>
  Effect.map(Metric.snapshot, (snapshot) => {
    const valueOf = (id: string) => {
      const found = snapshot.find((metric) => metric.id === id && metric.attributes?.["kind"] === kind)
      return found?.type === "Gauge" ? found.state.value : found?.type === "Counter" ? found.state.count : undefined
    }
    return {
      completed: valueOf("wac_retention_completed_timestamp_seconds"),
      failures: valueOf("wac_retention_failures_total"),
      removed: valueOf("wac_retention_removed_total")
    }
  })
