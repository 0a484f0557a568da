/** The page that lists events: what happened, as webhooks report it. Attempts to deliver them are on other pages. */
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import type { Event } from "@wac/client/internal"
import { SearchMessagesHint } from "../messages/SearchMessagesHint.tsx"
import { api } from "../session/Service.ts"
import { period, useChosen, useFilter } from "../ui/Filters.tsx"
import { ListPage, useList } from "../ui/List.tsx"
import { isIdOf } from "../ui/Sought.ts"
import { Id, type ListColumn, rowLink } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { EventTypeName } from "./EventTypeName.tsx"
import { eventTypes, subjectOf } from "./EventWords.ts"

const choices = { type: { label: "Type", options: eventTypes }, since: period }

const columns: ReadonlyArray<ListColumn<Event>> = [
  {
    name: "Type",
    text: ({ type }) => type,
    cell: ({ id, type }) => (
      <Link to="/events/$id" params={{ id }} className={rowLink}>
        <EventTypeName type={type} />
      </Link>
    )
  },
  { name: "About", className: "text-muted sm:whitespace-nowrap", text: subjectOf, cell: subjectOf },
  { name: "Id", from: "lg", className: "text-muted", text: ({ id }) => id, cell: ({ id }) => <Id>{id}</Id> },
  {
    name: "Recorded",
    className: "text-muted",
    text: (event) => event.created_at,
    cell: (event) => <Time at={event.created_at} />
  }
]

export const EventsPage = () => {
  const { message } = useSearch({ from: "/events" })
  const setFilter = useFilter()
  const navigate = useNavigate()
  const list = useList("events", { ...useChosen(choices), messageId: message }, api.events.list, {
    enabled: message === undefined || isIdOf("msg_", message)
  })
  return (
    <ListPage
      title="Events"
      lead="What happened to your messages, and what your customers wrote. Webhooks report the same."
      search={{
        label: "Event or message id",
        placeholder: "evt_… or msg_…",
        value: message,
        onSearch: (text) =>
          isIdOf("evt_", text)
            ? void navigate({ to: "/events/$id", params: { id: text } })
            : setFilter({ message: text })
      }}
      choices={choices}
      list={list}
      what="event"
      columns={columns}
      noMatch={message === undefined || isIdOf("msg_", message)
        ? {}
        : {
          title: `No event is found by “${message}”`,
          children: (
            <SearchMessagesHint text={message}>
              Events are found by their id, or by that of their message.
            </SearchMessagesHint>
          )
        }}
      none={{ title: "No events yet" }}
    />
  )
}
