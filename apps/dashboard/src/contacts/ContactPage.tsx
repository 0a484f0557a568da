/** One contact: its window, its wishes, and what was sent to it. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { MessageState } from "../messages/MessageWords.tsx"
import { api, firstPage } from "../session/Service.ts"
import { live } from "../session/Session.tsx"
import { buttonClass } from "../ui/Button.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Cell, Id, Row, rowLink, Table } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"
import { OptOut, WindowState } from "./Window.tsx"

const Sent = ({ to }: { readonly to: string }) => {
  const query = useQuery({
    queryKey: ["messages", { to, limit: 10 }],
    queryFn: ({ signal }) => firstPage(api.messages.list({ to, limit: 10 }, { signal })),
    ...live()
  })
  return (
    <Section
      flush
      title="Sent to this customer"
      actions={<Link to="/messages" search={{ to }} className="text-accent underline">All messages</Link>}
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ?
            <Empty title="Nothing was sent yet" /> :
            (
              <Table label="Sent messages" columns={["Message", "Status", "Created"]}>
                {data.map((message) => (
                  <Row key={message.id}>
                    <Cell>
                      <Link to="/messages/$id" params={{ id: message.id }} className={rowLink}>
                        <Id>{message.id}</Id>
                      </Link>
                    </Cell>
                    <Cell>
                      <MessageState status={message.status} />
                    </Cell>
                    <Cell className="text-muted">
                      <Time at={message.createdAt} />
                    </Cell>
                  </Row>
                ))}
              </Table>
            )}
      </Loaded>
    </Section>
  )
}

export const ContactPage = () => {
  const { id } = useParams({ from: "/contacts/$id" })
  const query = useQuery({
    queryKey: ["contact", id],
    queryFn: ({ signal }) => api.contacts.get(id, { signal }),
    ...live()
  })
  const { data: contact } = query
  return (
    <Page
      title={contact?.phone ?? contact?.userId ?? "Contact"}
      lead={<Id>{id}</Id>}
      actions={contact?.phone == null
        ? undefined
        : <Link to="/messages/new" search={{ to: contact.phone }} className={buttonClass()}>Send a message</Link>}
    >
      <div className="card">
        <Loaded query={query}>
          {(contact) => (
            <div className="p-4">
              <Facts>
                <Fact name="Service window">
                  <WindowState openUntil={contact.windowOpenUntil} />
                </Fact>
                <Fact name="Last wrote">
                  <TimeOr at={contact.lastInboundAt} none="Never" />
                </Fact>
                <Fact name="Opted out">
                  <OptOut optedOut={contact.optedOut} />
                  {contact.preferenceAt === null ? null : (
                    <span className="block text-[13px] text-muted">
                      said <Time at={contact.preferenceAt} />
                    </span>
                  )}
                </Fact>
                <Fact name="Phone">{contact.phone ?? <span className="text-muted">Not known</span>}</Fact>
                <Fact name="User id">{contact.userId ?? <span className="text-muted">Not known</span>}</Fact>
                <Fact name="Your number">
                  <Id>{contact.phoneNumberId}</Id>
                </Fact>
              </Facts>
            </div>
          )}
        </Loaded>
      </div>
      {contact === undefined ? null : <Sent to={contact.phone ?? contact.userId ?? contact.id} />}
    </Page>
  )
}
