/** One event, as a webhook in combined form carries it. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { api } from "../session/Service.ts"
import { Code } from "../ui/Copy.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { subjectOf } from "./EventWords.ts"

export const EventPage = () => {
  const { id } = useParams({ from: "/events/$id" })
  const query = useQuery({ queryKey: ["event", id], queryFn: ({ signal }) => api.events.get(id, { signal }) })
  const { data: event } = query
  return (
    <Page title={event === undefined ? "Event" : event.type} lead={<Id>{id}</Id>}>
      <div className="card">
        <Loaded query={query}>
          {(event) => (
            <div className="p-4">
              <Facts>
                <Fact name="Recorded">
                  <Time at={event.created_at} />
                </Fact>
                <Fact name="About">{subjectOf(event) || <span className="text-muted">The webhook</span>}</Fact>
                {"message_id" in event.data && event.type !== "message.received"
                  ? (
                    <Fact name="Message">
                      <Link
                        to="/messages/$id"
                        params={{ id: String(event.data.message_id) }}
                        className="text-accent underline"
                      >
                        <Id>{String(event.data.message_id)}</Id>
                      </Link>
                    </Fact>
                  )
                  : null}
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
