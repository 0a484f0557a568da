/**
 * Refetches the queries whose data has changed, as the service reports changes in a stream of events. Pages also
 * refetch at intervals, which are longer while the stream is open.
 */
import type { QueryClient } from "@tanstack/react-query"
import type { Changed, Topic } from "@wac/client/internal"
import { root } from "./Document.ts"
import * as EventStream from "./EventStream.ts"

/** The first parts of the keys of the queries whose data belongs to a topic. */
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

const topics = Object.keys(queries) as ReadonlyArray<Topic>

/** How often a page looks for what did not exist while the stream is broken, in milliseconds. */
export const whileBroken = 60_000

/** Refetches what did not exist: such queries have no interval of their own if the stream was open at their answer. */
const lookForMissing = (client: QueryClient) =>
  client.invalidateQueries({ predicate: ({ state }) => state.data === null }, { cancelRefetch: false })

/** How long changes are gathered before the page refetches, in milliseconds. */
const gathering = 1000

/** The pause after a refetch for each request that the refetch made, in milliseconds. */
const pause = 1500

let isOpen = false

/** Whether the stream of changes is open, so that pages can refetch at longer intervals. */
export const isFollowing = (): boolean => isOpen

/**
 * Refetches the queries of the gathered changes. The rate does not grow with the number of changes: a page with many
 * queries refetches less often than a page with one. A refetch cancels no request and waits until earlier requests of
 * the same queries have ended, so that a page on a slow connection gets responses too.
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
    // a request in flight may have been answered before the change
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
 * Follows the service's changes while the page is visible, until the returned function is called. A hidden tab closes
 * its stream, because a browser allows few connections to one address.
 */
export const follow = (client: QueryClient): () => void => {
  let end: (() => void) | undefined
  const begin = () => {
    const refresh = refresher(client)
    let lookout: ReturnType<typeof setInterval> | undefined
    const close = EventStream.open(`${root}internal/stream`, (source) => {
      source.addEventListener("open", () => {
        isOpen = true
        if (lookout === undefined) return
        clearInterval(lookout)
        lookout = undefined
        // the service tells nothing of what changed before
        refresh.add(topics)
      })
      source.addEventListener("error", () => {
        isOpen = false
        lookout ??= setInterval(() => void lookForMissing(client), whileBroken)
      })
      source.addEventListener("change", ({ data }: MessageEvent<string>) => refresh.add(topicsOf(data)))
    })
    return () => {
      isOpen = false
      clearInterval(lookout)
      close()
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
