/** Query parameters of every list. */
export interface ListQuery {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of a page: continues after it. */
  readonly cursor?: string
}
