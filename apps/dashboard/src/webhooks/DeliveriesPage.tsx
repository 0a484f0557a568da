/** The page that lists deliveries, each of one event to the webhook, and delivers events again. */
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import type { Delivery } from "@wac/client/internal"
import { type ComponentProps, useState } from "react"
import { EventTypeName } from "../events/EventTypeName.tsx"
import { eventTypes } from "../events/EventWords.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { SearchMessagesHint } from "../messages/SearchMessagesHint.tsx"
import { portal } from "../session/Document.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { ChosenFilter, period, useChosen, useFilter, useFilterWords, useRange } from "../ui/Filters.tsx"
import { grouped, plural, t } from "../ui/Language.ts"
import { isWhole, ListPage, onePage, useList } from "../ui/List.tsx"
import { isIdOf, statusCodeOf } from "../ui/Sought.ts"
import { idInFile, rowLink } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { DeliverAgain } from "./DeliverAgain.tsx"
import { AttemptState, DeliveryState, outcomeNames, statusNames } from "./DeliveryWords.tsx"
import { isRepeatable, meanings, waitsItsTurn } from "./RoundWords.ts"

const choices = {
  status: { label: t("Status"), options: statusNames },
  type: { label: t("Event"), options: eventTypes },
  outcome: { label: t("Last attempt"), options: outcomeNames },
  since: period
}

const nothing: ReadonlySet<string> = new Set()

export const DeliveriesPage = () => {
  const { code, message } = useSearch({ from: "/deliveries" })
  const setFilter = useFilter()
  const navigate = useNavigate()
  const refusal = useRefusal(RoleOf.deliveriesRetry)
  const [asked, setAsked] = useState<Pick<ComponentProps<typeof DeliverAgain>, "filter" | "walk">>()
  const { type: eventType, ...rest } = useChosen(choices)
  const filter = JSON.stringify([code, message, eventType, rest, useRange()])
  // deliveries that were chosen under another filter are not in the list, so they do not count
  const [marked, setMarked] = useState({ filter, ids: nothing })
  const chosen = marked.filter === filter ? marked.ids : nothing
  const isOver = rest.status !== undefined && rest.status !== "pending" && rest.status !== "held"
  const statusCode = statusCodeOf(code)
  const isUnknown = code !== undefined && statusCode === undefined
  const list = useList("deliveries", { ...rest, eventType, statusCode, messageId: message }, api.deliveries.list, {
    enabled: !isUnknown
  })
  const words = useFilterWords(choices, { [t("Status code")]: code, [t("Message")]: message })
  const askAll = () =>
    setAsked({
      filter: words,
      walk: async function*(signal) {
        for await (const { data } of list.walk(signal)) yield { data: data.filter(isRepeatable) }
      }
    })
  const askChosen = () =>
    setAsked({ walk: onePage(async () => ({ data: [...chosen].map((id) => ({ id })), nextCursor: null })) })
  const choose = (ids: ReadonlyArray<string>, isChosen: boolean) =>
    setMarked({
      filter,
      ids: new Set(isChosen ? [...chosen, ...ids] : [...chosen].filter((id) => !ids.includes(id)))
    })
  const above = (deliveries: ReadonlyArray<Delivery>) => {
    const ids = deliveries.filter(isRepeatable).map(({ id }) => id)
    return (
      <div className="flex min-h-12 flex-wrap items-center gap-3 border-b border-line px-4 py-2">
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={ids.length > 0 && ids.every((id) => chosen.has(id))}
            disabled={ids.length === 0}
            onChange={({ target }) => choose(ids, target.checked)}
          />
          {chosen.size === 0
            ? t("Choose all on this page")
            : plural(chosen.size, "{count} is chosen", "{count} are chosen")}
        </label>
        {chosen.size === 0 ?
          null :
          <Button small icon="refresh" refusal={refusal} onClick={askChosen}>{t("Deliver again…")}</Button>}
        {chosen.size === 0 && isOver && ids.length > 0
          ? (
            <Button small refusal={refusal} onClick={askAll}>
              {isWhole(list)
                ? t("Deliver all {count} again…", { count: grouped(ids.length) })
                : t("Deliver all again…")}
            </Button>
          )
          : null}
      </div>
    )
  }
  return (
    <ListPage
      title={t("Deliveries")}
      lead={t("Each event on its way to your webhook. An event is delivered in one or more attempts.")}
      search={{
        label: t("Status code, message id or delivery id"),
        placeholder: t("503, msg_… or dlv_…"),
        value: code,
        onSearch: (text) => {
          if (isIdOf("dlv_", text)) void navigate({ to: "/deliveries/$id", params: { id: text } })
          else if (isIdOf("evt_", text) && portal === undefined) {
            void navigate({ to: "/events/$id", params: { id: text } })
          } else if (isIdOf("msg_", text)) setFilter({ message: text, code: undefined })
          else setFilter({ code: text })
        }
      }}
      choices={choices}
      filters={message === undefined
        ? null
        : (
          <ChosenFilter onClear={() => setFilter({ message: undefined })}>
            {t("Of message {message}", { message })}
          </ChosenFilter>
        )}
      about={rest.status === undefined ? null : <p className="text-muted">{meanings[rest.status]}</p>}
      list={list}
      what={t("delivery")}
      above={above}
      columns={[
        {
          name: t("Choose"),
          isUnseen: true,
          text: null,
          className: "w-0",
          cell: (delivery) =>
            isRepeatable(delivery)
              ? (
                <input
                  type="checkbox"
                  aria-label={t("Choose {type} {id}", { type: delivery.eventType, id: delivery.id })}
                  className="relative z-10 block size-4 accent-accent"
                  checked={chosen.has(delivery.id)}
                  onChange={({ target }) => choose([delivery.id], target.checked)}
                />
              )
              : null
        },
        {
          name: t("Event"),
          text: ({ eventType }) => eventType,
          cell: ({ eventType, id }) => (
            <Link to="/deliveries/$id" params={{ id }} className={rowLink}>
              <EventTypeName type={eventType} />
            </Link>
          )
        },
        {
          name: t("Customer"),
          from: "sm",
          className: "text-muted",
          text: ({ customer }) => customer,
          cell: ({ customer }) => customer ?? "–"
        },
        { name: t("Status"), text: ({ status }) => status, cell: (delivery) => <DeliveryState delivery={delivery} /> },
        {
          name: t("Last attempt"),
          text: ({ lastAttempt }) => lastAttempt === null ? null : lastAttempt.statusCode ?? lastAttempt.outcome,
          from: "md",
          cell: ({ lastAttempt }) => lastAttempt === null ? "–" : <AttemptState attempt={lastAttempt} />
        },
        {
          name: t("Attempts"),
          from: "sm",
          className: "tabular-nums",
          text: ({ attemptCount }) => attemptCount,
          cell: ({ attemptCount }) => attemptCount
        },
        {
          name: t("Created"),
          className: "text-muted",
          text: ({ createdAt }) => createdAt,
          cell: ({ createdAt }) => <Time at={createdAt} />
        },
        {
          name: t("Next attempt"),
          text: ({ nextAttemptAt }) => nextAttemptAt,
          from: "md",
          className: "text-muted",
          cell: (delivery) =>
            delivery.nextAttemptAt !== null
              ? <Time at={delivery.nextAttemptAt} />
              : waitsItsTurn(delivery)
              ? t("After an earlier event")
              : "–"
        },
        idInFile,
        { name: t("Event id"), text: ({ eventId }) => eventId, cell: null }
      ]}
      noMatch={isUnknown
        ? {
          title: t("No delivery is found by “{code}”", { code }),
          children: (
            <SearchMessagesHint text={code}>
              {t(
                "Deliveries are found by a status code, such as 503, or by an id: their own, or that of their message."
              )}
            </SearchMessagesHint>
          )
        }
        : {}}
      none={{
        title: t("No deliveries yet"),
        children: t("Events that are recorded once a webhook is set are delivered to it, and are listed here.")
      }}
    >
      {asked === undefined
        ? null
        : (
          <DeliverAgain
            {...asked}
            onClose={(ended) => {
              choose([...ended], false)
              setAsked(undefined)
            }}
          />
        )}
    </ListPage>
  )
}
