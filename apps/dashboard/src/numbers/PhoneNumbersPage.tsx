/** The page with the phone numbers that the workspace sends from, with their status, quality and limits. */
import { useQuery } from "@tanstack/react-query"
import type { PhoneNumber } from "@wac/client/internal"
import { grouped } from "../ui/Language.ts"
import { Empty, Loaded, LoadState } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"
import { Id } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"
import { asSentence, capitalized } from "../ui/Words.ts"
import { phoneNumbersQuery } from "./Queries.ts"

const State = ({ status }: { readonly status: PhoneNumber["status"] }) =>
  status === "available"
    ? <Status tone="good">Available</Status>
    : status === "blocked"
    ? <Status tone="bad">Blocked</Status>
    : <Status tone="calm" icon="minus">Disabled</Status>

const Detail = ({ number }: { readonly number: PhoneNumber }) => (
  <Section
    title={number.phoneNumber}
    description={number.isDefault ? "The default number: sends without “from” use it." : undefined}
  >
    <div className="space-y-4">
      {number.block === null ? null : (
        <Notice tone="bad">
          <strong>{asSentence(number.block.message)}</strong> {number.block.scope === "all"
            ? "Nothing can be sent from it"
            : "Only replies inside a service window can be sent from it"}, since <Time at={number.block.since} />
          {number.block.until === null ? "." : (
            <>
              , until <Time at={number.block.until} />.
            </>
          )}
          {number.block.provider === null ?
            null :
            (
              <span className="block text-[13px]">
                The provider said: {number.block.provider.message} (code {number.block.provider.code})
              </span>
            )}
        </Notice>
      )}
      <Facts>
        <Fact name="Status">
          <State status={number.status} />
        </Fact>
        <Fact name="Quality">{number.quality === null ? "Not known" : capitalized(number.quality)}</Fact>
        <Fact name="Provider">{capitalized(number.provider)}</Fact>
        <Fact name="Tier">{capitalized(number.tier)}: {grouped(number.messagesPerSecond)} messages a second</Fact>
        <Fact name="Customers outside a window, in 24 hours">
          {number.messagingLimit === null ? "No limit" : `At most ${grouped(number.messagingLimit)}`}
        </Fact>
        <Fact name="Blocked until">
          <TimeOr at={number.block?.until ?? null} none="Not blocked for a time" />
        </Fact>
        <Fact name="Provider’s number id">
          <Id>{number.providerNumberId}</Id>
        </Fact>
        <Fact name="Provider’s account id">
          <Id>{number.providerAccountId}</Id>
        </Fact>
        <Fact name="Id">
          <Id>{number.id}</Id>
        </Fact>
      </Facts>
    </div>
  </Section>
)

export const PhoneNumbersPage = () => {
  const query = useQuery(phoneNumbersQuery)
  return (
    <Page
      title="Phone numbers"
      lead="The numbers that this workspace sends from. The operator of the service adds and changes them."
    >
      {query.data === undefined || query.data.length === 0
        ? (
          <div className="card">
            <Loaded query={query}>{() => <Empty title="This workspace has no phone number" />}</Loaded>
          </div>
        )
        : (
          <>
            {query.error === null ? null : <LoadState query={query} />}
            {query.data.map((number) => <Detail key={number.id} number={number} />)}
          </>
        )}
    </Page>
  )
}
