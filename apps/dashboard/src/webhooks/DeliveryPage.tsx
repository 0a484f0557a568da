/** The page of one delivery: its status, its attempts, and the button that delivers the event again. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import * as RoleOf from "../generated/RoleOf.ts"
import { portal } from "../session/Document.ts"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { CopyButton } from "../ui/Copy.tsx"
import { Failure } from "../ui/Failure.tsx"
import { t } from "../ui/Language.ts"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Id } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"
import { AttemptView } from "./AttemptView.tsx"
import { Begun } from "./Begun.tsx"
import { DeliveryState } from "./DeliveryWords.tsx"
import { Earlier } from "./Earlier.tsx"
import { webhookQuery } from "./Queries.ts"
import { isOfRemoved, isRepeatable, meaningOf, waitsItsTurn } from "./RoundWords.ts"

export const DeliveryPage = () => {
  const { id } = useParams({ from: "/deliveries/$id" })
  return <OneDelivery key={id} id={id} />
}

const OneDelivery = ({ id }: { readonly id: string }) => {
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.deliveriesRetry)
  const query = useQuery({
    queryKey: ["delivery", id],
    queryFn: ({ signal }) => api.deliveries.get(id, { signal }),
    ...live(3000)
  })
  const retry = useMutation({
    mutationFn: () => api.deliveries.retry(id),
    onSettled: () => client.invalidateQueries()
  })
  const { data: delivery } = query
  const { data: webhook } = useQuery(webhookQuery)
  return (
    <Page
      title={t("Delivery")}
      lead={<Id>{id}</Id>}
      actions={delivery === undefined ? undefined : (
        <>
          {delivery.curl === null ? null : <CopyButton text={delivery.curl} label={t("Copy as curl")} small={false} />}
          {isRepeatable(delivery) && !isOfRemoved(delivery, webhook)
            ? (
              <Button icon="refresh" refusal={refusal} isPending={retry.isPending} onClick={() => retry.mutate()}>
                {t("Deliver again")}
              </Button>
            )
            : null}
        </>
      )}
    >
      <Failure error={retry.error} />
      {retry.isSuccess ? <Begun statuses={[retry.data.status]} /> : null}
      <div className="card">
        <Loaded query={query} missing={<Missing what={t("delivery")} to="/deliveries" all={t("All deliveries")} />}>
          {(delivery) => (
            <div className="p-4">
              <Facts>
                <Fact name={t("Status")}>
                  <DeliveryState delivery={delivery} />
                  <span className="block text-[13px] text-muted">
                    {meaningOf(delivery, isOfRemoved(delivery, webhook))}
                  </span>
                </Fact>
                <Fact name={t("Event")}>
                  {portal === undefined
                    ? (
                      <Link to="/events/$id" params={{ id: delivery.eventId }} className="text-accent underline">
                        {delivery.eventType}
                      </Link>
                    )
                    : delivery.eventType}
                </Fact>
                <Fact name={t("Attempts")}>{delivery.attemptCount}</Fact>
                <Fact name={t("Created")}>
                  <Time at={delivery.createdAt} />
                </Fact>
                <Fact name={t("Next attempt")}>
                  {waitsItsTurn(delivery)
                    ? <Earlier delivery={delivery} />
                    : <TimeOr at={delivery.nextAttemptAt} none={t("None planned")} />}
                </Fact>
                <Fact name={t("Ended")}>
                  <TimeOr at={delivery.completedAt} none={t("Not yet")} />
                </Fact>
              </Facts>
            </div>
          )}
        </Loaded>
      </div>
      {delivery === undefined ?
        null :
        (
          <Section
            title={t("Attempts")}
            description={t("Newest first. Open one to see what was sent and what came back.")}
          >
            {delivery.attempts.length === 0
              ? <Empty title={t("No attempt was made yet")} />
              : (
                <ol className="space-y-2">
                  {delivery.attempts.toReversed().map((attempt, i) => (
                    <li key={attempt.id}>
                      <AttemptView attempt={attempt} isOpen={i === 0} />
                    </li>
                  ))}
                </ol>
              )}
          </Section>
        )}
    </Page>
  )
}
