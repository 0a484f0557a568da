/** Settings → Webhooks: where events go, how the receiver is, and what a person can do about it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { PutWebhook, Webhook } from "@wac/client/internal"
import { useState } from "react"
import { eventTypes } from "../events/EventWords.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { useOpened } from "../shell/Opened.ts"
import { Actions, Button } from "../ui/Button.tsx"
import { Confirm, Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Time, Until } from "../ui/Time.tsx"
import { asSentence, counted } from "../ui/Words.ts"
import { AttemptView } from "./AttemptView.tsx"
import { webhookQuery } from "./Queries.ts"
import { ReceiverSection } from "./ReceiverSection.tsx"
import { ReplaysSection } from "./ReplaysSection.tsx"
import { ResumeDialog } from "./ResumeDialog.tsx"
import { RotateDialog } from "./RotateDialog.tsx"
import { SecretDialog } from "./SecretDialog.tsx"
import { VerifySection } from "./VerifySection.tsx"
import { WebhookForm } from "./WebhookForm.tsx"
import { WebhookHealth } from "./WebhookHealth.tsx"

const dialogs = ["edit", "resume", "pause", "rotate", "remove"] as const

const Configured = (
  { onSecret, webhook }: {
    readonly webhook: Webhook
    readonly onSecret: (secret: { readonly secret: string; readonly previousExpiresAt?: string }) => void
  }
) => {
  const client = useQueryClient()
  const refusal = useRefusal(
    RoleOf.webhookPut,
    RoleOf.webhookTest,
    RoleOf.webhookPause,
    RoleOf.webhookResume,
    RoleOf.webhookRotateSecret,
    RoleOf.webhookRemove
  )
  const [named, setOpened] = useOpened(dialogs)
  // an address can name what does not fit
  const opened = refusal !== undefined || named === (webhook.status === "paused" ? "pause" : "resume")
    ? undefined
    : named
  const close = () => setOpened(undefined)
  const settled = () => client.invalidateQueries()
  const test = useMutation({ mutationFn: () => api.webhook.test(), onSettled: settled })
  const pause = useMutation({ mutationFn: () => api.webhook.pause(), onSuccess: close, onSettled: settled })
  const remove = useMutation({ mutationFn: () => api.webhook.remove(), onSuccess: close, onSettled: settled })
  const put = useMutation({
    mutationFn: (webhook: PutWebhook) => api.webhook.put(webhook),
    onSuccess: close,
    onSettled: settled
  })
  const isPaused = webhook.status === "paused"
  return (
    <>
      <Section
        title="Webhook"
        actions={
          <Actions>
            {isPaused
              ? (
                <Button look="primary" icon="start" refusal={refusal} onClick={() => setOpened("resume")}>
                  Resume…
                </Button>
              )
              : <Button icon="pause" refusal={refusal} onClick={() => setOpened("pause")}>Pause…</Button>}
            <Button icon="event" refusal={refusal} isPending={test.isPending} onClick={() => test.mutate()}>
              {test.isPending ? "Sending…" : "Send test event"}
            </Button>
          </Actions>
        }
      >
        <Facts>
          <Fact name="URL">
            <code className="font-mono text-[13px] break-all">{webhook.url}</code>
          </Fact>
          <Fact name="Status">
            <WebhookHealth webhook={webhook} />
            {webhook.pausedAt === null ? null : (
              <span className="block text-[13px] text-muted">
                since <Time at={webhook.pausedAt} />
              </span>
            )}
            {webhook.status === "paused" || webhook.failingSince === null ?
              null :
              (
                <span className="block text-[13px] text-muted">
                  since <Time at={webhook.failingSince} />
                  {webhook.pausesAt === null ? null : (
                    <>
                      ; will be paused in <Until at={webhook.pausesAt} />
                    </>
                  )}
                </span>
              )}
          </Fact>
          <Fact name="Held events">
            {webhook.heldCount === 0 ?
              "None" :
              (
                <Link to="/deliveries" search={{ status: "held" }} className="text-accent underline">
                  {counted(webhook.heldCount, "event", "events")}
                </Link>
              )}
            {webhook.oldestHeldAt === null ? null : (
              <span className="block text-[13px] text-muted">
                oldest from <Time at={webhook.oldestHeldAt} />
              </span>
            )}
          </Fact>
          <Fact name="Envelope">
            {webhook.envelope === "combined" ? "Combined" : `Variant ${webhook.envelope.toUpperCase()}`}
          </Fact>
          <Fact name="Events">
            {webhook.eventTypes.length >= eventTypes.length ? "All" : webhook.eventTypes.join(", ")}
          </Fact>
          <Fact name="Last failure">
            {webhook.lastFailure === null ? "None" : (
              <>
                {asSentence(webhook.lastFailure.message)}
                <span className="block text-[13px] text-muted">
                  <Time at={webhook.lastFailure.at} />
                </span>
              </>
            )}
          </Fact>
        </Facts>
        <div className="mt-5 flex flex-wrap gap-2">
          <Button refusal={refusal} onClick={() => setOpened("edit")}>Edit…</Button>
          <Button icon="shield" refusal={refusal} onClick={() => setOpened("rotate")}>Rotate secret…</Button>
          <Button look="danger" refusal={refusal} onClick={() => setOpened("remove")}>Remove…</Button>
        </div>
        {test.data === undefined && test.error === null ? null : (
          <div role="status" className="mt-5 space-y-2">
            <h3 className="font-medium">Test event</h3>
            <Failure error={test.error} />
            {test.data === undefined ? null : <AttemptView key={test.data.id} attempt={test.data} isOpen />}
          </div>
        )}
      </Section>
      <ReceiverSection />
      <ReplaysSection />
      <VerifySection />
      {opened === "resume" ? <ResumeDialog webhook={webhook} onClose={close} /> : null}
      {opened === "rotate"
        ? (
          <RotateDialog
            onClose={close}
            onRotated={({ previousExpiresAt, signingSecret }) => {
              close()
              onSecret({ secret: signingSecret, previousExpiresAt })
            }}
          />
        )
        : null}
      {opened === "edit"
        ? (
          <Dialog title="Edit the webhook" isOpen onClose={close}>
            <WebhookForm
              webhook={webhook}
              refusal={refusal}
              error={put.error}
              isPending={put.isPending}
              onSave={(webhook) => put.mutate(webhook)}
              onCancel={close}
            />
          </Dialog>
        )
        : null}
      <Confirm
        title="Pause the webhook?"
        action="Pause webhook"
        isOpen={opened === "pause"}
        isPending={pause.isPending}
        error={pause.error}
        onClose={close}
        onConfirm={() => pause.mutate()}
      >
        Deliveries stop until a person resumes the webhook. Events are still recorded, and are held; none is lost.
      </Confirm>
      <Confirm
        title="Remove the webhook?"
        action="Remove webhook"
        isOpen={opened === "remove"}
        isPending={remove.isPending}
        error={remove.error}
        onClose={close}
        onConfirm={() => remove.mutate()}
      >
        Nothing more is delivered to {webhook.url}
        {webhook.heldCount === 0
          ? ""
          : `, and ${counted(webhook.heldCount, "held event is", "held events are")} not delivered`}. Its signing secret
        ends. Recorded events stay in the list.
      </Confirm>
    </>
  )
}

const NotSet = ({ onSecret }: { readonly onSecret: (secret: { readonly secret: string }) => void }) => {
  const client = useQueryClient()
  const refusal = useRefusal(RoleOf.webhookPut)
  const put = useMutation({
    mutationFn: (webhook: PutWebhook) => api.webhook.put(webhook),
    onSuccess: ({ signingSecret }) => {
      if (signingSecret !== undefined) onSecret({ secret: signingSecret })
    },
    onSettled: () => client.invalidateQueries()
  })
  return (
    <Section
      title="Set a webhook"
      description="Every event is posted to one address of yours, signed and retried for 24 hours."
    >
      <WebhookForm
        webhook={null}
        refusal={refusal}
        error={put.error}
        isPending={put.isPending}
        onSave={(webhook) => put.mutate(webhook)}
      />
    </Section>
  )
}

export const WebhookPage = () => {
  const query = useQuery(webhookQuery)
  const [secret, setSecret] = useState<{ readonly secret: string; readonly previousExpiresAt?: string }>()
  return (
    <Page title="Webhooks" lead="What happens to your messages is reported to your server by signed webhooks.">
      {query.data === undefined
        ? (
          <div className="card">
            <Loaded query={query}>{() => null}</Loaded>
          </div>
        )
        : (
          <>
            {query.error === null ? null : <Loaded query={query}>{() => null}</Loaded>}
            {query.data === null
              ? <NotSet onSecret={setSecret} />
              : <Configured key={query.data.id} webhook={query.data} onSecret={setSecret} />}
          </>
        )}
      {secret === undefined ? null : <SecretDialog {...secret} onClose={() => setSecret(undefined)} />}
    </Page>
  )
}
