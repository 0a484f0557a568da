/** The page that lists the active API keys of the workspace, and creates and revokes keys. */
import { Link } from "@tanstack/react-router"
import type { ListedApiKey } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { useOpened } from "../shell/Opened.ts"
import { Button } from "../ui/Button.tsx"
import { t } from "../ui/Language.ts"
import { ListPage, useList } from "../ui/List.tsx"
import { actions, idInFile, rowLink } from "../ui/Table.tsx"
import { TimeOr } from "../ui/Time.tsx"
import { CreateKeyDialog } from "./CreateKey.tsx"
import { RevokeKey } from "./RevokeKey.tsx"
import { scopesInWords } from "./ScopeWords.ts"

export const KeysPage = () => {
  const refusal = useRefusal(RoleOf.apiKeysCreate, RoleOf.apiKeysRevoke)
  const [opened, setOpened] = useOpened(["create"])
  const [revoked, setRevoked] = useState<ListedApiKey>()
  const list = useList("api-keys", {}, api.apiKeys.list, { every: 10_000 })
  const create = (
    <Button look="primary" icon="key" refusal={refusal} onClick={() => setOpened("create")}>
      {t("Create API key")}
    </Button>
  )
  return (
    <ListPage
      title={t("API keys")}
      lead={t("Your servers send messages with an API key. Keep keys out of browsers and apps.")}
      actions={create}
      list={list}
      what={t("API key")}
      columns={[
        {
          name: t("Name"),
          text: ({ name }) => name,
          className: "break-words",
          cell: ({ id, name }) => <Link to="/api-keys/$id" params={{ id }} className={rowLink}>{name}</Link>
        },
        {
          name: t("May"),
          from: "sm",
          className: "text-muted",
          text: ({ scopes }) => scopes.join(" "),
          cell: ({ scopes }) => scopesInWords(scopes)
        },
        {
          name: t("Last used"),
          text: ({ lastUsedAt }) => lastUsedAt,
          className: "text-muted",
          cell: ({ lastUsedAt }) => <TimeOr at={lastUsedAt} none={t("Never")} />
        },
        idInFile,
        actions((key: ListedApiKey) => (
          <span className="relative z-10">
            <Button
              small
              look="danger"
              refusal={refusal}
              aria-label={t("Revoke {name}", { name: key.name })}
              onClick={() => setRevoked(key)}
            >
              {t("Revoke…")}
            </Button>
          </span>
        ))
      ]}
      none={{
        title: t("There is no active API key"),
        children: t("A key’s secrets are shown once, when it is created."),
        actions: create
      }}
    >
      {opened === "create" && refusal === undefined
        ? <CreateKeyDialog onClose={() => setOpened(undefined)} />
        : null}
      {revoked === undefined ? null : <RevokeKey apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </ListPage>
  )
}
