/** The page of one API key, which never shows a secret. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { portal } from "../session/Document.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { t } from "../ui/Language.ts"
import { Loaded } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { Fact, Facts, Page } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"
import { Id } from "../ui/Table.tsx"
import { Time, TimeOr, useNow } from "../ui/Time.tsx"
import { keyQuery } from "./Queries.ts"
import { RevokeKey } from "./RevokeKey.tsx"
import { scopesInWords } from "./ScopeWords.ts"

export const KeyPage = () => {
  const { id } = useParams({ from: "/api-keys/$id" })
  const refusal = useRefusal(RoleOf.apiKeysRevoke)
  const [isRevoking, setRevoking] = useState(false)
  const query = useQuery(keyQuery(id))
  const numbers = useQuery(phoneNumbersQuery)
  const { data: key } = query
  const isExpired = useNow((now) => key?.expiresAt != null && Date.parse(key.expiresAt) <= now)
  return (
    <Page
      title={key === undefined ? t("API key") : key.name}
      lead={<Id>{id}</Id>}
      actions={key === undefined ? undefined : (
        <>
          {portal === undefined
            ? <Link to="/requests" search={{ key: id }} className={buttonClass()}>Requests with this key</Link>
            : null}
          {key.revokedAt === null
            ? <Button look="danger" refusal={refusal} onClick={() => setRevoking(true)}>{t("Revoke…")}</Button>
            : null}
        </>
      )}
    >
      <div className="card">
        <Loaded query={query} missing={<Missing what={t("API key")} to="/api-keys" all={t("All API keys")} />}>
          {(key) => (
            <div className="p-4">
              <Facts>
                <Fact name={t("Status")}>
                  {key.revokedAt !== null
                    ? <Status tone="bad">{t("Revoked")}</Status>
                    : isExpired
                    ? <Status tone="bad" icon="clock">{t("Expired")}</Status>
                    : <Status tone="good">{t("Active")}</Status>}
                </Fact>
                <Fact name={t("Begins with")}>
                  <Id>{`${key.prefix}…`}</Id>
                </Fact>
                <Fact name={t("May")}>
                  {scopesInWords(key.scopes)}
                </Fact>
                <Fact name={t("Sends from")}>
                  {key.phoneNumberIds === null
                    ? t("Every number")
                    : key.phoneNumberIds.map((id) => numbers.data?.find((one) => one.id === id)?.phoneNumber ?? id)
                      .join(", ")}
                </Fact>
                <Fact name={t("Used from")}>
                  {key.allowedCidrs === null ? t("Anywhere") : key.allowedCidrs.join(", ")}
                </Fact>
                <Fact name={t("Last used")}>
                  <TimeOr at={key.lastUsedAt} none={t("Never")} />
                </Fact>
                <Fact name={t("Created")}>
                  <Time at={key.createdAt} />
                </Fact>
                <Fact name={t("Expires")}>
                  <TimeOr at={key.expiresAt} none={t("Never")} />
                </Fact>
                <Fact name={t("Signed requests")}>{key.requireSignature ? t("Required") : t("Optional")}</Fact>
                {key.revokedAt === null ? null : (
                  <Fact name={t("Revoked")}>
                    <Time at={key.revokedAt} />
                  </Fact>
                )}
              </Facts>
            </div>
          )}
        </Loaded>
      </div>
      {isRevoking && key !== undefined ? <RevokeKey apiKey={key} onClose={() => setRevoking(false)} /> : null}
    </Page>
  )
}
