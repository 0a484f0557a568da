/**
 * Indexes of skipped deliveries and of opted-out contacts, so that their lists read nothing else of a workspace.
 */
import { ifMissing, type Index } from "../IndexBuild.ts"

export const indexes: ReadonlyArray<Index> = [
  {
    name: "deliveries_skipped",
    table: "deliveries",
    definition: "(workspace_id, created_at, id) where status = 'skipped'"
  },
  {
    name: "contacts_opted_out",
    table: "contacts",
    definition: "(workspace_id, phone_number_id, key) where opted_out and key > ''"
  }
]

export const sql = `
${indexes.map(ifMissing).join(";\n")};
comment on index deliveries_skipped is 'The skipped deliveries of each workspace, in the order of recording';
comment on index contacts_opted_out is 'The opted-out contacts of each workspace, in the order of the list of opt-outs';
`
