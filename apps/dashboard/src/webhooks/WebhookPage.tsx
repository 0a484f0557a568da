/** The page of the webhook: its settings and health, its actions, the receiver, replays, and a check of signatures. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { PutWebhook, Webhook } from "@wac/client/internal"
import { type ComponentProps, useRef, useState } from "react"
import { eventTypes } from "../events/EventWords.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { mayBeDone } from "../session/Once.ts"
import { refuseReverting } from "../session/Save.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { useOpened } from "../shell/Opened.ts"
import { Actions, Button } from "../ui/Button.tsx"
import { Confirm, Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { plural, rich, t } from "../ui/Language.ts"
import { LoadState } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { Time, Until } from "../ui/Time.tsx"
import { asSentence } from "../ui/Words.ts"
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

/** What a person can change of a webhook. */
const settingsOf = ({ envelope, eventTypes, url }: Webhook): PutWebhook => ({ url, envelope, eventTypes })

const EditDialog = (
  { onClose, refusal, webhook }: {
    readonly webhook: Webhook
    readonly refusal: string | undefined
    readonly onClose: () => void
  }
) => {
  const client = useQueryClient()
  /** The settings with which the form began; `undefined` if the outcome of a save is not known. */
  const begun = useRef<PutWebhook | undefined>(settingsOf(webhook))
  const put = useMutation({
    mutationFn: async (webhook: PutWebhook) => {
      if (begun.current !== undefined) refuseReverting(begun.current, settingsOf(await api.webhook.get()))
      try {
        return await api.webhook.put(webhook)
      } catch (error) {
        // what is stored may now be this form's own change
        if (mayBeDone(error)) begun.current = undefined
        throw error
      }
    },
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries()
  })
  return (
    <Dialog title={t("Edit the webhook")} isDismissible={!put.isPending} onClose={onClose}>
      <WebhookForm
        webhook={webhook}
        refusal={refusal}
        error={put.error}
        isPending={put.isPending}
        onSave={(webhook) => put.mutate(webhook)}
        onCancel={onClose}
      />
    </Dialog>
  )
}

const Configured = (
  { isSecretLost, onSecret, webhook }: {
    readonly webhook: Webhook
    /** Whether this page set the webhook, but got no secret for it. */
    readonly isSecretLost: boolean
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
  // the address can name a dialog that is not possible now
  const opened = refusal !== undefined || named === (webhook.status === "paused" ? "pause" : "resume")
    ? undefined
    : named
  const close = () => setOpened(undefined)
  const test = useMutation({ mutationFn: () => api.webhook.test(), onSettled: () => client.invalidateQueries() })
  const isPaused = webhook.status === "paused"
  return (
    <>
      {isSecretLost
        ? (
          <Notice
            tone="warn"
            role="alert"
            actions={<Button small refusal={refusal} onClick={() => setOpened("rotate")}>{t("Rotate secret…")}</Button>}
          >
            {t(
              "The webhook is set, but its signing secret was not shown here: the response with it was lost, or somebody else set the webhook first. A secret is shown once. If nobody has stored it, rotate it for another."
            )}
          </Notice>
        )
        : null}
      <Section
        title={t("Webhook")}
        actions={
          <Actions>
            {isPaused
              ? (
                <Button look="primary" icon="start" refusal={refusal} onClick={() => setOpened("resume")}>
                  {t("Resume…")}
                </Button>
              )
              : <Button icon="pause" refusal={refusal} onClick={() => setOpened("pause")}>{t("Pause…")}</Button>}
            <Button icon="event" refusal={refusal} isPending={test.isPending} onClick={() => test.mutate()}>
              {test.isPending ? t("Sending…") : t("Send test event")}
            </Button>
          </Actions>
        }
      >
        <Facts>
          <Fact name="URL">
            <code className="font-mono text-[13px] break-all">{webhook.url}</code>
          </Fact>
          <Fact name={t("Status")}>
            <WebhookHealth webhook={webhook} />
            {webhook.pausedAt === null ? null : (
              <span className="block text-[13px] text-muted">
                {rich("since {when}", { when: <Time at={webhook.pausedAt} /> })}
              </span>
            )}
            {webhook.status === "paused" || webhook.failingSince === null ?
              null :
              (
                <span className="block text-[13px] text-muted">
                  {webhook.pausesAt === null
                    ? rich("since {when}", { when: <Time at={webhook.failingSince} /> })
                    : rich("since {when}; will be paused in {time}", {
                      when: <Time at={webhook.failingSince} />,
                      time: <Until at={webhook.pausesAt} />
                    })}
                </span>
              )}
          </Fact>
          <Fact name={t("Held events")}>
            {webhook.heldCount === 0 ?
              t("None") :
              (
                <Link to="/deliveries" search={{ status: "held" }} className="text-accent underline">
                  {plural(webhook.heldCount, "{count} event", "{count} events")}
                </Link>
              )}
            {webhook.oldestHeldAt === null ? null : (
              <span className="block text-[13px] text-muted">
                {rich("oldest from {when}", { when: <Time at={webhook.oldestHeldAt} /> })}
              </span>
            )}
          </Fact>
          <Fact name={t("Envelope")}>
            {webhook.envelope === "combined"
              ? t("Combined")
              : t("Variant {name}", { name: webhook.envelope.toUpperCase() })}
          </Fact>
          <Fact name={t("Events")}>
            {webhook.eventTypes.length >= eventTypes.length ? t("All") : webhook.eventTypes.join(", ")}
          </Fact>
          <Fact name={t("Last failure")}>
            {webhook.lastFailure === null ? t("None") : (
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
          <Button refusal={refusal} onClick={() => setOpened("edit")}>{t("Edit…")}</Button>
          <Button icon="shield" refusal={refusal} onClick={() => setOpened("rotate")}>{t("Rotate secret…")}</Button>
          <Button look="danger" refusal={refusal} onClick={() => setOpened("remove")}>{t("Remove…")}</Button>
        </div>
        {test.data === undefined && test.error === null ? null : (
          <div role="status" className="mt-5 space-y-2">
            <h3 className="font-medium">{t("Test event")}</h3>
            <Failure error={test.error} />
            {test.data === undefined ? null : <AttemptView key={test.data.id} attempt={test.data} isOpen />}
          </div>
        )}
      </Section>
      <ReceiverSection />
      <ReplaysSection isPaused={isPaused} />
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
      {opened === "edit" ? <EditDialog webhook={webhook} refusal={refusal} onClose={close} /> : null}
      {opened === "pause"
        ? (
          <Confirm
            title={t("Pause the webhook?")}
            action={t("Pause webhook")}
            act={() => api.webhook.pause()}
            onClose={close}
          >
            {t(
              "Deliveries stop until a person resumes the webhook. Events are still recorded, and are held; none is lost."
            )}
          </Confirm>
        )
        : null}
      {opened === "remove"
        ? (
          <Confirm
            title={t("Remove the webhook?")}
            action={t("Remove webhook")}
            act={() => api.webhook.remove()}
            onClose={close}
          >
            {webhook.heldCount === 0
              ? t("Nothing more is delivered to {url}. Its signing secret ends. Recorded events stay in the list.", {
                url: webhook.url
              })
              : plural(
                webhook.heldCount,
                "Nothing more is delivered to {url}, and {count} held event is not delivered. Its signing secret ends. Recorded events stay in the list.",
                "Nothing more is delivered to {url}, and {count} held events are not delivered. Its signing secret ends. Recorded events stay in the list.",
                { url: webhook.url }
              )}
          </Confirm>
        )
        : null}
    </>
  )
}

const NotSet = (
  { error, isPending, onSave }: Pick<ComponentProps<typeof WebhookForm>, "error" | "isPending" | "onSave">
) => {
  const refusal = useRefusal(RoleOf.webhookPut)
  return (
    <Section
      title={t("Set a webhook")}
      description={t("Every event is posted to one address of yours, signed and retried for 24 hours.")}
    >
      <WebhookForm webhook={null} refusal={refusal} error={error} isPending={isPending} onSave={onSave} />
    </Section>
  )
}

export const WebhookPage = () => {
  const client = useQueryClient()
  const query = useQuery(webhookQuery)
  const [secret, setSecret] = useState<{ readonly secret: string; readonly previousExpiresAt?: string }>()
  // the mutation is here, because the form may disappear before the response with the secret arrives
  const first = useMutation({
    mutationFn: (webhook: PutWebhook) => api.webhook.put(webhook),
    onSuccess: ({ signingSecret }) => {
      if (signingSecret !== undefined) setSecret({ secret: signingSecret })
    },
    onSettled: () => client.invalidateQueries()
  })
  return (
    <Page
      title={t("Webhooks")}
      lead={t("What happens to your messages is reported to your server by signed webhooks.")}
    >
      {query.data === undefined
        ? (
          <div className="card">
            <LoadState query={query} />
          </div>
        )
        : (
          <>
            {query.error === null ? null : <LoadState query={query} />}
            {query.data === null
              ? <NotSet error={first.error} isPending={first.isPending} onSave={(webhook) => first.mutate(webhook)} />
              : (
                <Configured
                  key={query.data.id}
                  webhook={query.data}
                  isSecretLost={first.isError || first.data !== undefined && first.data.signingSecret === undefined}
                  onSecret={(secret) => {
                    first.reset()
                    setSecret(secret)
                  }}
                />
              )}
          </>
        )}
      {secret === undefined ? null : <SecretDialog {...secret} onClose={() => setSecret(undefined)} />}
    </Page>
  )
}
