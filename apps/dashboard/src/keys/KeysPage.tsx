/** The active API keys of the workspace. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ListedApiKey } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { useRefusal } from "../session/Session.tsx"
import { useOpened } from "../shell/Opened.ts"
import { Button } from "../ui/Button.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { Cell, Row, rowLink, Table } from "../ui/Table.tsx"
import { TimeOr } from "../ui/Time.tsx"
import { CreateKeyDialog } from "./CreateKey.tsx"
import { activeKeysQuery } from "./Queries.ts"
import { RevokeKey } from "./RevokeKey.tsx"
import { scopesInWords } from "./ScopeWords.ts"

export const KeysPage = () => {
  const refusal = useRefusal(RoleOf.apiKeysCreate, RoleOf.apiKeysRevoke)
  const [opened, setOpened] = useOpened(["create"])
  const [revoked, setRevoked] = useState<ListedApiKey>()
  const query = useQuery(activeKeysQuery)
  const create = (
    <Button look="primary" icon="key" refusal={refusal} onClick={() => setOpened("create")}>Create API key</Button>
  )
  return (
    <Page
      title="API keys"
      lead="Your servers send messages with an API key. Keep keys out of browsers and apps."
      actions={create}
    >
      <div className="card">
        <Loaded query={query}>
          {(keys) =>
            keys.length === 0
              ? (
                <Empty title="There is no active API key" actions={create}>
                  A key’s secrets are shown once, when it is created.
                </Empty>
              )
              : (
                <Table
                  label="API keys"
                  columns={["Name", { name: "May", className: "hidden sm:table-cell" }, "Last used", ""]}
                >
                  {keys.map((key) => (
                    <Row key={key.id}>
                      <Cell className="break-words">
                        <Link to="/api-keys/$id" params={{ id: key.id }} className={rowLink}>{key.name}</Link>
                      </Cell>
                      <Cell className="hidden text-muted sm:table-cell">
                        {scopesInWords(key.scopes)}
                      </Cell>
                      <Cell className="text-muted">
                        <TimeOr at={key.lastUsedAt} none="Never" />
                      </Cell>
                      <Cell className="text-right">
                        <span className="relative z-10">
                          <Button
                            small
                            look="danger"
                            refusal={refusal}
                            aria-label={`Revoke ${key.name}`}
                            onClick={() => setRevoked(key)}
                          >
                            Revoke…
                          </Button>
                        </span>
                      </Cell>
                    </Row>
                  ))}
                </Table>
              )}
        </Loaded>
      </div>
      {opened === "create" && refusal === undefined
        ? <CreateKeyDialog onClose={() => setOpened(undefined)} />
        : null}
      {revoked === undefined ? null : <RevokeKey apiKey={revoked} onClose={() => setRevoked(undefined)} />}
    </Page>
  )
}
