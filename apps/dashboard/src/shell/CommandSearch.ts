/**
 * The search of the command menu: the messages, customers, templates and API keys that match a text. Each kind takes
 * one request, except API keys: all are read, and cached.
 */
import { useQuery, useQueryClient } from "@tanstack/react-query"
import type { ListedMessage } from "@wac/client/internal"
import { useEffect, useState } from "react"
import { activeKeysQuery } from "../keys/Queries.ts"
import { messageStatuses } from "../messages/MessageWords.tsx"
import { channel, portal } from "../session/Document.ts"
import { api, firstPage } from "../session/Service.ts"
import { asName } from "../templates/Names.ts"
import { isNumberPart } from "../ui/Sought.ts"
import type { Command } from "./Command.ts"

/** Things of one kind that were found. */
interface Found {
  /** The name of the kind, in the plural. */
  readonly kind: string
  readonly commands: ReadonlyArray<Command>
}

type Read = (text: string, signal: AbortSignal) => Promise<ReadonlyArray<Command>>

/** How many messages, templates and API keys are shown; their pages list all. */
const shownAtOnce = 5

const messageCommands = (messages: ReadonlyArray<ListedMessage>, text: string): ReadonlyArray<Command> =>
  messages.map(({ id, status, to }) => ({
    name: `Message to ${to} · ${messageStatuses.find(([each]) => each === status)?.[1]} · ${text}`,
    icon: "message",
    to: "/messages/$id",
    id
  }))

const messages: Read = async (text, signal) => {
  const filter = text.startsWith("wamid.") ? { providerMessageId: text } : { clientReference: text }
  const { data } = await firstPage(api.messages.list({ ...filter, limit: shownAtOnce }, { signal }))
  return messageCommands(data, text)
}

const customers: Read = async (text, signal) => {
  const { data } = await api.contacts.find({ number: text }, { signal })
  return data.map(({ number }) => ({
    name: `Customer ${number}`,
    icon: "contact",
    to: "/messages",
    search: { to: number }
  }))
}

const templates: Read = async (text, signal) => {
  const { data } = await firstPage(api.templates.list({ nameContains: asName(text), limit: shownAtOnce }, { signal }))
  return data.map(({ id, language, name }) => ({
    name: `Template ${name} · ${language}`,
    icon: "template",
    to: "/templates/$id",
    id
  }))
}

/**
 * The kinds of things to search for a text: customers only if it may be a part of a number, templates only if it may be
 * a part of a name.
 */
const kindsFor = (text: string, keys: Read): ReadonlyArray<readonly [kind: string, read: Read]> => [
  ...(isNumberPart(text) ? [["customers", customers] as const] : []),
  ["messages", messages],
  ...(channel.templates && !isNumberPart(text) && /^[a-z0-9_]+$/.test(asName(text))
    ? [["templates", templates] as const]
    : []),
  ["API keys", keys]
]

/** The text once it has not changed for a moment. */
const useSettled = (text: string): string => {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 200)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/** Searches for a text, by kind; `data` is `undefined` until the responses have arrived. */
export const useCommandSearch = (text: string, isEnabled: boolean) => {
  const client = useQueryClient()
  const settled = useSettled(text)
  const keys: Read = async (text) => {
    const words = text.toLowerCase()
    return (await client.fetchQuery(activeKeysQuery))
      .filter(({ name }) => name.toLowerCase().includes(words))
      .slice(0, shownAtOnce)
      .map(({ id, name }) => ({ name: `API key ${name}`, icon: "key", to: "/api-keys/$id", id }))
  }
  const query = useQuery({
    queryKey: ["found", settled],
    queryFn: ({ signal }) =>
      Promise.all(
        kindsFor(settled, keys).map(async ([kind, read]): Promise<Found> => ({
          kind,
          commands: await read(settled, signal)
        }))
      ),
    enabled: isEnabled && settled === text && text.length > 1 && text.length <= 255 && portal === undefined
  })
  // `data` may still belong to the previous text
  return { ...query, data: settled === text ? query.data : undefined }
}

/** The sentence that names the kinds of which nothing was found; empty if something was found of each. Pure. */
export const notFoundText = (found: ReadonlyArray<Found>, text: string): string => {
  const kinds = found.filter(({ commands }) => commands.length === 0).map(({ kind }) => kind)
  return kinds.length === 0 ? "" : `Not found by “${text}”: ${kinds.join(", ")}.`
}
