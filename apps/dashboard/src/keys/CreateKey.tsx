/** The dialog that creates an API key: its form, and then the secrets, which are shown only once. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { ApiScope, CreateApiKey, CreatedApiKey } from "@wac/client/internal"
import { useState } from "react"
import * as MaxLength from "../generated/MaxLength.ts"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { useOnce } from "../session/Once.ts"
import { address, api } from "../session/Service.ts"
import { AskBeforeLeaving } from "../ui/AskBeforeLeaving.tsx"
import { Button } from "../ui/Button.tsx"
import { Code, Secret } from "../ui/Copy.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { entriesIn, textsOf } from "../ui/Entries.ts"
import { Failure } from "../ui/Failure.tsx"
import { Check, elsewhere, Field, TextField } from "../ui/Field.tsx"
import { t } from "../ui/Language.ts"
import { day } from "../ui/Moment.ts"
import { Notice } from "../ui/Notice.tsx"
import { timeZone } from "../ui/Time.tsx"
import { choices, preset } from "./ScopeWords.ts"
import { sendCurl } from "./SendCurl.ts"

const lifetimes = [
  ["", t("Never")],
  ["30", t("In 30 days")],
  ["90", t("In 90 days")],
  ["365", t("In a year")],
  ["at", t("At a time…")]
] as const

const expiryOf = (lifetime: string, at: string): string | undefined =>
  lifetime === "" ? undefined : new Date(lifetime === "at" ? at : Date.now() + Number(lifetime) * day).toISOString()

/** The networks in a text with one per line, or several with commas between them. */
const networksIn = (text: string) => entriesIn(text, /[\s,]+/)

/**
 * A key to create: the values of the form, which identify a repetition (see `useOnce`), and the function that makes the
 * request.
 */
interface Asked {
  readonly form: ReadonlyArray<unknown>
  readonly make: () => CreateApiKey
}

const Form = (
  { error, isPending, onCancel, onCreate }: {
    readonly error: unknown
    readonly isPending: boolean
    readonly onCancel: () => void
    readonly onCreate: (asked: Asked) => void
  }
) => {
  const [name, setName] = useState("")
  const [lifetime, setLifetime] = useState("")
  const [at, setAt] = useState("")
  const [requireSignature, setRequireSignature] = useState(false)
  const [scopes, setScopes] = useState<ReadonlyArray<ApiScope>>(preset)
  const numbers = useQuery(phoneNumbersQuery)
  const [phoneNumberIds, setPhoneNumberIds] = useState<ReadonlyArray<string>>([])
  const [networks, setNetworks] = useState("")
  const make = (): CreateApiKey => {
    const expiresAt = expiryOf(lifetime, at)
    const allowedCidrs = textsOf(networksIn(networks))
    return {
      name,
      scopes,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(requireSignature ? { requireSignature } : {}),
      ...(phoneNumberIds.length === 0 ? {} : { phoneNumberIds }),
      ...(allowedCidrs.length === 0 ? {} : { allowedCidrs })
    }
  }
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPending) {
          onCreate({ form: [name, lifetime, at, requireSignature, scopes, phoneNumberIds, networks], make })
        }
      }}
    >
      <TextField
        label={t("Name")}
        hint={t("What uses the key, for example “Order service”.")}
        error={error}
        param="name"
        required
        maxLength={MaxLength.createApiKeyName}
        value={name}
        onChange={setName}
      />
      <Field label={t("Expires")} error={error} param={lifetime === "at" ? undefined : "expiresAt"}>
        {(control) => (
          <select
            {...control}
            className="field"
            value={lifetime}
            onChange={(event) => setLifetime(event.target.value)}
          >
            {lifetimes.map(([value, name]) => <option key={value} value={value}>{name}</option>)}
          </select>
        )}
      </Field>
      {lifetime === "at"
        ? (
          <TextField
            label={t("Expires at")}
            hint={t("Time zone: {timeZone}", { timeZone })}
            error={error}
            param="expiresAt"
            type="datetime-local"
            required
            value={at}
            onChange={setAt}
          />
        )
        : null}
      <fieldset className="space-y-2">
        <legend className="mb-1 font-medium">{t("Besides sending messages, the key may")}</legend>
        {choices.map(([scope, name, hint]) => (
          <Check
            key={scope}
            checked={scopes.includes(scope)}
            onChange={(isChosen) =>
              setScopes((chosen) => isChosen ? [...chosen, scope].sort() : chosen.filter((other) => other !== scope))}
          >
            {name}
            <span className="block text-[13px] text-muted">{hint}</span>
          </Check>
        ))}
      </fieldset>
      <Check checked={requireSignature} onChange={setRequireSignature}>
        {t("Require signed requests")}
        <span className="block text-[13px] text-muted">
          {t(
            "Requests with this key that change something are refused unless they are signed with its signing secret."
          )}
        </span>
      </Check>
      {numbers.data === undefined || numbers.data.length < 2 ? null : (
        <fieldset className="space-y-2">
          <legend className="mb-1 font-medium">{t("It sends from")}</legend>
          <p className="text-[13px] text-muted">
            {t("If you choose none: from every number, also from those added later.")}
          </p>
          {numbers.data.map(({ id, phoneNumber }) => (
            <Check
              key={id}
              checked={phoneNumberIds.includes(id)}
              onChange={(isChosen) =>
                setPhoneNumberIds((chosen) =>
                  isChosen ? [...chosen, id].sort() : chosen.filter((other) => other !== id)
                )}
            >
              {phoneNumber}
            </Check>
          ))}
        </fieldset>
      )}
      <Field
        label={t("Used from")}
        hint={t("Networks or addresses, one per line, for example 203.0.113.0/24. If you name none: from anywhere.")}
        error={error}
        param="allowedCidrs"
        entries={networksIn(networks)}
      >
        {(control) => (
          <textarea
            {...control}
            rows={2}
            autoComplete="off"
            spellCheck={false}
            className="field font-mono"
            value={networks}
            onChange={(event) => setNetworks(event.target.value)}
          />
        )}
      </Field>
      <Failure error={elsewhere(error, "name", "expiresAt", "allowedCidrs")} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button isPending={isPending} onClick={onCancel}>{t("Cancel")}</Button>
        <Button look="primary" type="submit" isPending={isPending}>{t("Create key")}</Button>
      </div>
    </form>
  )
}

const Reveal = (
  { apiKey, created, isSigned, onDone }: {
    readonly created: CreatedApiKey
    readonly apiKey: string
    readonly isSigned: boolean
    readonly onDone: () => void
  }
) => {
  const [isStored, setStored] = useState(false)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  return (
    <div className="space-y-4">
      {isStored ? null : <AskBeforeLeaving />}
      <Notice tone="warn">
        {t("These secrets are shown this once. Store both now, for example in your secret manager.")}
      </Notice>
      <Secret label={t("API key")} value={apiKey} />
      {created.signingSecret === undefined
        ? null
        : <Secret label={t("Signing secret")} value={created.signingSecret} />}
      <details>
        <summary className="font-medium">{t("Try it: send a first message")}</summary>
        <div className="mt-2">
          <Code
            label={t("Command")}
            text={sendCurl(address, apiKey, idempotencyKey, isSigned ? created.signingSecret : undefined)}
          />
        </div>
      </details>
      <Check checked={isStored} onChange={setStored}>{t("I have stored it")}</Check>
      <div className="flex justify-end">
        <Button
          look="primary"
          onClick={onDone}
          refusal={isStored ? undefined : t("Store both secrets, then tick the box: they are not shown again.")}
        >
          {t("Done")}
        </Button>
      </div>
    </div>
  )
}

export const CreateKeyDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const client = useQueryClient()
  const once = useOnce<CreateApiKey>()
  const create = useMutation({
    mutationFn: ({ form, make }: Asked) =>
      once(form, make, async (request, key) => ({
        key: await api.apiKeys.create(request, key),
        isSigned: request.requireSignature === true
      })),
    onSettled: () => void client.invalidateQueries({ queryKey: ["api-keys"] })
  })
  const { data: created } = create
  return (
    <Dialog
      title={created === undefined ? t("Create an API key") : t("API key “{name}”", { name: created.key.name })}
      isDismissible={created === undefined && !create.isPending}
      onClose={onClose}
      width={created === undefined ? "max-w-lg" : "max-w-2xl"}
    >
      {created === undefined
        ? (
          <Form
            error={create.error}
            isPending={create.isPending}
            onCancel={onClose}
            onCreate={(asked) => create.mutate(asked)}
          />
        )
        : created.key.apiKey === undefined
        ? (
          <div className="space-y-4">
            <Notice tone="warn" role="alert">
              {t(
                "The key was created, but the response with its secrets was lost, and they are not shown again. Revoke this key and create another."
              )}
            </Notice>
            <div className="flex justify-end">
              <Button onClick={onClose}>{t("Close")}</Button>
            </div>
          </div>
        )
        : <Reveal created={created.key} apiKey={created.key.apiKey} isSigned={created.isSigned} onDone={onClose} />}
    </Dialog>
  )
}
