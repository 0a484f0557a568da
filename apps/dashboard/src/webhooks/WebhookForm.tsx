/** The form for the webhook's URL, envelope and event types. */
import type { Envelope, EventType, PutWebhook, Webhook } from "@wac/client/internal"
import { useState } from "react"
import { eventTypes, meaningOf } from "../events/EventWords.ts"
import * as MaxLength from "../generated/MaxLength.ts"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Check, Choices, elsewhere, TextField } from "../ui/Field.tsx"
import { t } from "../ui/Language.ts"

const envelopes: ReadonlyArray<readonly [Envelope, string]> = [
  ["combined", t("Combined: every field of both variants (recommended)")],
  ["a", t("Variant A only")],
  ["b", t("Variant B only")]
]

export const WebhookForm = (
  { error, isPending, onCancel, onSave, refusal, webhook }: {
    readonly webhook: Webhook | null
    readonly refusal: string | undefined
    readonly error: unknown
    readonly isPending: boolean
    readonly onSave: (webhook: PutWebhook) => void
    readonly onCancel?: () => void
  }
) => {
  const [url, setUrl] = useState(webhook?.url ?? "")
  const [envelope, setEnvelope] = useState<Envelope>(webhook?.envelope ?? "combined")
  const all = eventTypes.map(([type]) => type)
  const chosenBefore = webhook === null || webhook.eventTypes.length >= all.length ? undefined : webhook.eventTypes
  const [types, setTypes] = useState<ReadonlyArray<EventType> | undefined>(chosenBefore)
  return (
    <form
      className="space-y-5"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPending && refusal === undefined) {
          onSave({ url: url.trim(), envelope, ...(types === undefined ? {} : { eventTypes: types }) })
        }
      }}
    >
      <TextField
        label="URL"
        hint={t("An https address that takes POST requests.")}
        error={error}
        param="url"
        type="url"
        required
        maxLength={MaxLength.putWebhookUrl}
        placeholder="https://example.com/webhooks/wac"
        value={url}
        onChange={setUrl}
      />
      <Choices label={t("Envelope")} value={envelope} onChange={setEnvelope} choices={envelopes} />
      <Choices
        label={t("Events")}
        value={types === undefined ? "all" : "some"}
        onChange={(choice) => setTypes(choice === "all" ? undefined : all)}
        choices={[["all", t("All, and types that come later")], ["some", t("Only these")]]}
      />
      {types === undefined ? null : (
        <div className="grid gap-2 pl-6 sm:grid-cols-2">
          {all.map((type) => (
            <Check
              key={type}
              checked={types.includes(type)}
              onChange={(checked) => setTypes(all.filter((each) => each === type ? checked : types.includes(each)))}
            >
              <code className="font-mono text-[13px]">{type}</code>
              <span className="block text-[13px] text-muted">{meaningOf(type)}</span>
            </Check>
          ))}
        </div>
      )}
      <Failure error={elsewhere(error, "url")} />
      <div className="flex gap-2">
        <Button
          look="primary"
          type="submit"
          isPending={isPending}
          refusal={refusal ?? (types?.length === 0 ? t("Choose at least one type of event.") : undefined)}
        >
          {webhook === null ? t("Set webhook") : t("Save")}
        </Button>
        {onCancel === undefined ? null : <Button isPending={isPending} onClick={onCancel}>{t("Cancel")}</Button>}
      </div>
    </form>
  )
}
