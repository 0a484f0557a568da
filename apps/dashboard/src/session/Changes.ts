/** Asks again for what has changed as soon as the service tells so; pages also ask by themselves, only more slowly. */
import type { QueryClient } from "@tanstack/react-query"
import type { Changed, Topic } from "@wac/client/internal"
import { root } from "./Service.ts"

/** The first words of the keys of the queries that are about a topic. */
const queries: Record<Topic, ReadonlyArray<string>> = {
  alerts: ["alerts"],
  apiKeys: ["api-keys"],
  audit: ["audit"],
  campaigns: ["campaigns"],
  contacts: ["contacts", "contact"],
  deliveries: ["deliveries", "delivery"],
  events: ["events", "event"],
  members: ["members"],
  messages: ["messages", "message", "queue"],
  phoneNumbers: ["phone-numbers"],
  replays: ["replays"],
  requests: ["requests"],
  templates: ["templates"],
  usage: ["usage"],
  webhook: ["webhook"]
}

const topicsOf = (data: string): ReadonlyArray<Topic> => (JSON.parse(data) as Changed).topics

/**
 * Follows the changes until the returned function is called, while the page is looked at: a browser allows few
 * connections to one address, and hidden tabs must not take them all.
 */
export const follow = (client: QueryClient): () => void => {
  let source: EventSource | undefined
  const end = () => {
    source?.close()
    source = undefined
  }
  const begin = () => {
    source = new EventSource(`${root}internal/stream`)
    source.addEventListener("change", ({ data }: MessageEvent<string>) => {
      const changed = new Set(topicsOf(data).flatMap((topic) => queries[topic] ?? []))
      void client.invalidateQueries({ predicate: ({ queryKey }) => changed.has(String(queryKey[0])) })
    })
  }
  const look = () => {
    if (document.visibilityState === "hidden") end()
    else if (source === undefined) begin()
  }
  look()
  document.addEventListener("visibilitychange", look)
  return () => {
    document.removeEventListener("visibilitychange", look)
    end()
  }
}
