/** The page that lists messages, newest first; the address holds its filters. */
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import type { ListedMessage } from "@wac/client/internal"
import { api } from "../session/Service.ts"
import { buttonClass } from "../ui/Button.tsx"
import { period, useChosen, useFilter, useFilterWords } from "../ui/Filters.tsx"
import { isWhole, ListPage, useList } from "../ui/List.tsx"
import { isIdOf, soughtMessages } from "../ui/Sought.ts"
import { idInFile, type ListColumn, rowLink } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { capitalized } from "../ui/Words.ts"
import { CancelQueued } from "./CancelQueued.tsx"
import { HeldQueue } from "./HeldQueue.tsx"
import { ListedState, messageStatuses } from "./MessageWords.tsx"

const choices = { status: { label: "Status", options: messageStatuses }, since: period }

const columns: ReadonlyArray<ListColumn<ListedMessage>> = [
  {
    name: "To",
    text: ({ to }) => to,
    className: "tabular-nums",
    cell: ({ id, to }) => <Link to="/messages/$id" params={{ id }} className={rowLink}>{to}</Link>
  },
  {
    name: "Status",
    text: ({ status }) => status,
    cell: ({ sendAt, status }) => <ListedState status={status} sendAt={sendAt} />
  },
  { name: "Kind", from: "sm", text: ({ type }) => type, cell: ({ type }) => capitalized(type) },
  {
    name: "From",
    from: "md",
    className: "text-muted tabular-nums",
    text: ({ from }) => from,
    cell: ({ from }) => from
  },
  {
    name: "Created",
    className: "text-muted",
    text: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Time at={createdAt} />
  },
  idInFile
]

export const MessagesPage = () => {
  const { provider, reference, to, typed } = useSearch({ from: "/messages" })
  const setFilter = useFilter()
  const navigate = useNavigate()
  const chosen = useChosen(choices)
  const words = useFilterWords(choices, { To: to, "Client reference": reference, "Provider’s id": provider })
  const list = useList(
    "messages",
    { ...chosen, to, clientReference: reference, providerMessageId: provider },
    api.messages.list
  )
  return (
    <ListPage
      title="Messages"
      lead="What was sent with your API keys, and from here."
      actions={<Link to="/messages/new" className={buttonClass("primary")}>Send a message</Link>}
      before={<HeldQueue />}
      search={{
        label: "Number, id, provider’s id or client reference",
        placeholder: "+15551234567, msg_…, wamid.…, order-1042",
        value: to ?? reference ?? provider,
        onSearch: (text) =>
          isIdOf("msg_", text)
            ? void navigate({ to: "/messages/$id", params: { id: text } })
            : setFilter({
              to: undefined,
              typed: undefined,
              reference: undefined,
              provider: undefined,
              ...soughtMessages(text)
            })
      }}
      choices={choices}
      about={chosen.status === "queued"
        ? (
          <CancelQueued
            messages={list.query.data?.data ?? []}
            whole={isWhole(list)}
            filter={words}
            walk={list.walk}
          />
        )
        : undefined}
      list={list}
      what="message"
      columns={columns}
      noMatch={{
        children: to === undefined || typed === undefined
          ? "A number is found here by the whole of it, with its country code: +49 170 1234567. By its beginning, it is found with Ctrl+K."
          : (
            <>
              “{typed}” was read as the number {to}. It may be a client reference:{" "}
              <Link
                to="/messages"
                search={({ cursor: _, to: __, typed: ___, ...search }: Record<string, unknown>) =>
                  ({ ...search, reference: typed }) as never}
                className="text-accent underline"
              >
                Messages with the reference {typed}
              </Link>
            </>
          )
      }}
      none={{ title: "No messages yet", children: "Send one with an API key: “Get started” shows how." }}
    />
  )
}
