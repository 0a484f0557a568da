/** Asks again for what has changed once the service reports it; pages also ask by themselves, only more slowly. */
import type { QueryClient } from "@tanstack/react-query"
import type { Changed, Topic } from "@wac/client/internal"
import { root } from "./Document.ts"

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

/** How long changes are gathered before the page asks for any, in milliseconds. */
const gathering = 1000

/** How long the page does not ask for changes, for each request that it made for the ones before, in milliseconds. */
const pause = 1500

let isOpen = false

/** Whether the service reports changes now, so that pages need not ask by themselves as often. */
export const isFollowing = (): boolean => isOpen

/**
 * Asks again for what gathered changes are about, at a rate that does not grow with the number of changes: a page with
 * many queries asks less often than a page with one. It cancels no request and begins none while earlier ones are under
 * way, so that a page on a slow line gets answers too.
 */
const refresher = (client: QueryClient) => {
  const changed = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isEnded = false
  const later = (millis: number) => {
    timer = setTimeout(() => void refresh(), millis)
  }
  const refresh = async () => {
    const about = new Set(changed)
    changed.clear()
    const predicate = ({ queryKey }: { readonly queryKey: ReadonlyArray<unknown> }) => about.has(String(queryKey[0]))
    // what is under way may have been answered before the change
    const busy = client.getQueryCache().findAll({ predicate, fetchStatus: "fetching" })
    await Promise.allSettled(busy.map(({ promise }) => promise))
    const asked = client.getQueryCache().findAll({ predicate, type: "active" }).length
    await client.invalidateQueries({ predicate }, { cancelRefetch: false })
    if (isEnded) return
    timer = undefined
    if (asked === 0 && changed.size === 0) return
    later(Math.max(gathering, asked * pause))
  }
  return {
    add: (topics: ReadonlyArray<Topic>) => {
      for (const word of topics.flatMap((topic) => queries[topic] ?? [])) changed.add(word)
      if (timer === undefined) later(gathering)
    },
    end: () => {
      isEnded = true
      clearTimeout(timer)
    }
  }
}

/**
 * Follows the changes until the returned function is called, while the page is looked at: a browser allows few
 * connections to one address, and hidden tabs must not take them all.
 */
export const follow = (client: QueryClient): () => void => {
  let end: (() => void) | undefined
  const begin = () => {
    const source = new EventSource(`${root}internal/stream`)
    const refresh = refresher(client)
    source.addEventListener("open", () => {
      isOpen = true
    })
    source.addEventListener("error", () => {
      isOpen = false
    })
    source.addEventListener("change", ({ data }: MessageEvent<string>) => refresh.add(topicsOf(data)))
    return () => {
      isOpen = false
      source.close()
      refresh.end()
    }
  }
  const look = () => {
    if (document.visibilityState === "hidden") {
      end?.()
      end = undefined
    } else end ??= begin()
  }
  look()
  document.addEventListener("visibilitychange", look)
  return () => {
    document.removeEventListener("visibilitychange", look)
    end?.()
    end = undefined
  }
}
