/** The page of one event: its facts, and its content as a webhook with the combined envelope carries it. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { api } from "../session/Service.ts"
import { Code } from "../ui/Copy.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { DeliveryState } from "../webhooks/DeliveryWords.tsx"
import { lifeQuery } from "../webhooks/Life.ts"
import { messageIdOf, subjectOf } from "./EventWords.ts"

/** The state of the event's delivery to the webhook. */
const Delivered = ({ eventId, messageId }: { readonly eventId: string; readonly messageId: string }) => (
  <Loaded query={useQuery(lifeQuery(messageId))} lines={1}>
    {(life) => {
      const delivery = life.find(({ event }) =>
        event.id === eventId
      )?.delivery
      return delivery === undefined
        ? <span className="text-muted">No webhook was subscribed to this type when the event was recorded</span>
        : (
          <Link to="/deliveries/$id" params={{ id: delivery.id }}>
            <DeliveryState delivery={delivery} />
          </Link>
        )
    }}
  </Loaded>
)

export const EventPage = () => {
  const { id } = useParams({ from: "/events/$id" })
  const query = useQuery({ queryKey: ["event", id], queryFn: ({ signal }) => api.events.get(id, { signal }) })
  const { data: event } = query
  const messageId = event === undefined ? undefined : messageIdOf(event)
  return (
    <Page title={event === undefined ? "Event" : event.type} lead={<Id>{id}</Id>}>
      <div className="card">
        <Loaded query={query} missing={<Missing what="event" to="/events" all="All events" />}>
          {(event) => (
            <div className="p-4">
              <Facts>
                <Fact name="Recorded">
                  <Time at={event.created_at} />
                </Fact>
                <Fact name="About">{subjectOf(event) || <span className="text-muted">The webhook</span>}</Fact>
                {messageId === undefined ? null : (
                  <>
                    <Fact name="Message">
                      <Link to="/messages/$id" params={{ id: messageId }} className="text-accent underline">
                        <Id>{messageId}</Id>
                      </Link>
                    </Fact>
                    <Fact name="Delivery">
                      <Delivered eventId={id} messageId={messageId} />
                    </Fact>
                  </>
                )}
              </Facts>
            </div>
          )}
        </Loaded>
      </div>
      {event === undefined ?
        null :
        (
          <Section title="Content" description="As a webhook with the combined envelope receives it.">
            <Code label="Content" text={JSON.stringify(event, null, 2)} />
          </Section>
        )}
    </Page>
  )
}
