/**
 * The first page: what needs attention, recent activity, the webhook, the limits, and the newest messages and failures.
 */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ListedMessage } from "@wac/client/internal"
import type { ReactNode } from "react"
import { placeOf } from "../alerts/AlertPlaces.ts"
import { HeldWords, ReleaseQueue } from "../messages/HeldQueue.tsx"
import { ListedState } from "../messages/MessageWords.tsx"
import { queueQuery } from "../messages/Queries.ts"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { live } from "../session/Refetching.ts"
import { api, firstPage } from "../session/Service.ts"
import { useSession } from "../session/Session.tsx"
import { buttonClass } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { nextOf } from "../ui/List.tsx"
import { Empty, Loaded, LoadState } from "../ui/Loaded.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Status, type Tone } from "../ui/Status.tsx"
import { type Column, rowLink, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { asSentence, counted } from "../ui/Words.ts"
import { Activity } from "../usage/Activity.tsx"
import { Limits } from "../usage/Limits.tsx"
import { webhookQuery } from "../webhooks/Queries.ts"
import { isRepeatable } from "../webhooks/RoundWords.ts"
import { WebhookHealth } from "../webhooks/WebhookHealth.tsx"

interface Matter {
  readonly key: string
  readonly tone: Tone
  readonly word: string
  readonly text: ReactNode
  readonly action: ReactNode
}

const action = buttonClass("secondary", true)

const Attention = () => {
  const webhook = useQuery(webhookQuery)
  const numbers = useQuery(phoneNumbersQuery)
  const exhausted = useQuery({
    queryKey: ["deliveries", "newest-exhausted"],
    queryFn: async ({ signal }) => {
      for await (const delivery of api.deliveries.list({ status: "exhausted", limit: 20 }, { signal })) {
        // a failed probe shows in the webhook's state, and cannot be delivered again
        if (isRepeatable(delivery)) return delivery
      }
      return null
    },
    ...live(10_000)
  })
  const rejected = useQuery({
    queryKey: ["templates", { status: "rejected", limit: 1 }],
    queryFn: ({ signal }) => api.templates.list({ status: "rejected", limit: 1 }, { signal }).toArray(1),
    ...live(30_000)
  })
  const keys = useQuery({
    queryKey: ["api-keys", { limit: 1 }],
    queryFn: ({ signal }) => api.apiKeys.list({ limit: 1 }, { signal }).toArray(1),
    ...live(30_000)
  })
  const alerts = useQuery({
    queryKey: ["alerts", { open: true }],
    queryFn: ({ signal }) => firstPage(api.alerts.list({ open: true, limit: 100 }, { signal })),
    ...live(10_000)
  })
  const queue = useQuery(queueQuery)
  const all = [webhook, numbers, exhausted, rejected, keys, alerts, queue]
  const failed = all.find(({ data, error }) => data === undefined && error !== null)
  const old = all.find(({ data, error }) => data !== undefined && error !== null)
  const hook = webhook.data
  const held = queue.data?.heldSince == null ? undefined : { since: queue.data.heldSince, queue: queue.data }
  const matters: ReadonlyArray<Matter> = [
    ...hook?.status === "paused" && hook.pausedAt !== null
      ? [{
        key: "paused",
        tone: "bad" as const,
        word: "Paused",
        text: (
          <>
            The webhook is paused since <Time at={hook.pausedAt} />; {counted(hook.heldCount, "event is", "events are")}
            {" "}
            held.
          </>
        ),
        action: <Link to="/settings/webhook" className={action}>Resume</Link>
      }]
      : [],
    ...hook?.status === "active" && hook.failingSince !== null
      ? [{
        key: "failing",
        tone: "warn" as const,
        word: "Failing",
        text: (
          <>
            The webhook’s receiver is failing; its first failure was <Time at={hook.failingSince} />.
          </>
        ),
        action: <Link to="/settings/webhook" className={action}>Open webhook</Link>
      }]
      : [],
    ...held !== undefined
      ? [{
        key: "held",
        tone: "warn" as const,
        word: "Held",
        text: (
          <>
            {held.queue.queued === 0
              ? "Queued messages are held"
              : counted(held.queue.queued, "queued message is held", "queued messages are held")}.{" "}
            <HeldWords since={held.since} />
          </>
        ),
        action: <ReleaseQueue queue={held.queue} />
      }]
      : [],
    ...(numbers.data ?? []).filter(({ block }) => block !== null).map(({ block, id, phoneNumber }) => ({
      key: id,
      tone: "bad" as const,
      word: "Blocked",
      text: <>{phoneNumber}: {block?.message}</>,
      action: <Link to="/phone-numbers" className={action}>Open numbers</Link>
    })),
    // alerts about the webhook, blocked numbers and held messages are above, in more detail
    ...(alerts.data?.data ?? []).filter(({ kind }) =>
      !/^(?:webhook_|number_blocked)/.test(kind) && !(kind === "queue_late" && held !== undefined)
    ).map((alert) => ({
      key: alert.id,
      tone: "warn" as const,
      word: "Alert",
      text: asSentence(alert.message),
      action: <Link {...placeOf(alert)} className={action}>Look at it</Link>
    })),
    ...exhausted.data == null ? [] : [{
      key: "exhausted",
      tone: "warn" as const,
      word: "Not delivered",
      text: (
        <>
          Deliveries were given up after 24 hours, the newest recorded <Time at={exhausted.data.createdAt} />.
        </>
      ),
      action: <Link to="/deliveries" search={{ status: "exhausted" }} className={action}>Show them</Link>
    }],
    ...rejected.data?.[0] === undefined ? [] : [{
      key: "rejected",
      tone: "calm" as const,
      word: "Rejected",
      text: <>The provider rejected the template {rejected.data[0].name}.</>,
      action: <Link to="/templates/$id" params={{ id: rejected.data[0].id }} className={action}>Show it</Link>
    }],
    ...keys.data?.length === 0 || hook === null
      ? [{
        key: "start",
        tone: "calm" as const,
        word: "To do",
        text: keys.data?.length === 0
          ? <>There is no API key yet.</>
          : <>No webhook is set: nothing reports what happens to messages.</>,
        action: <Link to="/start" className={action}>Get started</Link>
      }]
      : []
  ]
  return (
    <Section title="Needs attention" flush>
      {failed !== undefined || old === undefined ? null : <LoadState query={old} />}
      {failed !== undefined
        ? <LoadState query={failed} />
        : all.some(({ data }) => data === undefined)
        ? <LoadState query={all.find(({ data }) => data === undefined)!} lines={2} />
        : matters.length === 0
        ? (
          <p className="flex items-center gap-2 px-4 pt-1 pb-3 text-good">
            <Icon name="check" /> Nothing needs attention.
          </p>
        )
        : (
          <ul className="divide-y divide-line">
            {matters.map(({ action, key, text, tone, word }) => (
              <li key={key} className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5">
                <Status tone={tone} {...(tone === "calm" ? { icon: "circle" } : {})}>{word}</Status>
                <span className="min-w-0 flex-1 basis-60 break-words">{text}</span>
                {action}
              </li>
            ))}
          </ul>
        )}
    </Section>
  )
}

const Hook = () => {
  const query = useQuery(webhookQuery)
  return (
    <Section title="Webhook" actions={<Link to="/settings/webhook" className={action}>Open</Link>}>
      <Loaded query={query} lines={2}>
        {(webhook) =>
          webhook === null ? <p className="text-muted">No webhook is set.</p> : (
            <Facts>
              <Fact name="Status">
                <WebhookHealth webhook={webhook} />
              </Fact>
              <Fact name="Held events">
                {webhook.heldCount === 0 ? "None" : counted(webhook.heldCount, "event", "events")}
              </Fact>
              <Fact name="Last failure">
                {webhook.lastFailure === null ? "None" : (
                  <>
                    {asSentence(webhook.lastFailure.message)}{" "}
                    <span className="text-muted">
                      <Time at={webhook.lastFailure.at} />
                    </span>
                  </>
                )}
              </Fact>
            </Facts>
          )}
      </Loaded>
    </Section>
  )
}

const columns: ReadonlyArray<Column<ListedMessage>> = [
  {
    name: "To",
    className: "tabular-nums",
    cell: ({ id, to }) => <Link to="/messages/$id" params={{ id }} className={rowLink}>{to}</Link>
  },
  { name: "Status", cell: ({ sendAt, status }) => <ListedState status={status} sendAt={sendAt} /> },
  { name: "Created", className: "text-muted", cell: ({ createdAt }) => <Time at={createdAt} /> }
]

const Recent = ({ status, title }: { readonly title: string; readonly status?: "failed" }) => {
  const query = useQuery({
    queryKey: ["messages", { status, limit: 5 }],
    queryFn: ({ signal }) =>
      firstPage(api.messages.list({ limit: 5, ...(status === undefined ? {} : { status }) }, { signal })),
    ...live()
  })
  return (
    <Section
      flush
      title={title}
      actions={<Link to="/messages" search={status === undefined ? {} : { status }} className={action}>All</Link>}
    >
      <Loaded query={query} lines={5}>
        {(page) =>
          page.data.length > 0
            ? <Table label={title} columns={columns} items={page.data} />
            : nextOf(page) === null
            ? <Empty title={status === undefined ? "No messages yet" : "No message has failed"} />
            : (
              <Empty title="None of the newest messages">
                Older ones were not looked at: “All” goes on with them.
              </Empty>
            )}
      </Loaded>
    </Section>
  )
}

export const OverviewPage = () => (
  <Page title="Overview" lead={useSession().workspaceName}>
    <Attention />
    <Activity />
    <div className="grid gap-6 xl:grid-cols-2">
      <Hook />
      <Limits />
    </div>
    <div className="grid gap-6 xl:grid-cols-2">
      <Recent title="Latest messages" />
      <Recent title="Latest failures" status="failed" />
    </div>
  </Page>
)
