/** The section that checks the signature of a received delivery, and shows which part of it is wrong. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Field } from "../ui/Field.tsx"
import { t } from "../ui/Language.ts"
import { Notice } from "../ui/Notice.tsx"
import { Section } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"

const parts = { header: t("Header"), timestamp: t("Timestamp"), signature: t("Signature") } as const

export const VerifySection = () => {
  const refusal = useRefusal(RoleOf.webhookVerify)
  const [header, setHeader] = useState("")
  const [body, setBody] = useState("")
  const verify = useMutation({ mutationFn: () => api.webhook.verify({ header, body }) })
  return (
    <Section
      title={t("Check a signature")}
      description={t("Paste what your receiver got, and see which part of the verification fails. Nothing is stored.")}
    >
      <form
        className="grid gap-4 lg:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (!verify.isPending && refusal === undefined) verify.mutate()
        }}
      >
        <Field
          label={t("Signature header")}
          hint={t("The value of X-Service-Signature, or lines of “Name: value” from a log.")}
        >
          {(control) => (
            <textarea
              {...control}
              rows={3}
              required
              className="field font-mono text-[13px]"
              value={header}
              onChange={(event) => {
                setHeader(event.target.value)
                verify.reset()
              }}
            />
          )}
        </Field>
        <Field label={t("Raw body")} hint={t("Exactly as it came, before parsing.")}>
          {(control) => (
            <textarea
              {...control}
              rows={3}
              required
              className="field font-mono text-[13px]"
              value={body}
              onChange={(event) => {
                setBody(event.target.value)
                verify.reset()
              }}
            />
          )}
        </Field>
        <div className="space-y-3 lg:col-span-2">
          <Button type="submit" icon="shield" isPending={verify.isPending} refusal={refusal}>
            {t("Check signature")}
          </Button>
          <Failure error={verify.error} />
          {verify.data === undefined ? null : (
            <div role="status" className="space-y-2">
              <Notice tone={verify.data.ok ? "good" : "bad"}>
                {verify.data.ok ? t("The signature is valid.") : t("The signature is not valid.")}
              </Notice>
              <ul className="space-y-1">
                {verify.data.checks.map(({ message, ok, part }) => (
                  <li key={part} className="flex flex-wrap items-center gap-2">
                    <Status tone={ok ? "good" : "bad"}>{parts[part]}</Status>
                    <span className="min-w-0 break-words">{message}</span>
                  </li>
                ))}
              </ul>
            </div>
          )}
        </div>
      </form>
    </Section>
  )
}
