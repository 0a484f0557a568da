/**
 * Forecasts of campaigns, and customers who get nothing for comparison.
 */
export const sql = `
update campaigns set state = (
  '{"holdout": 0, "limitedCustomers": 0, "forecast": null}'::jsonb || state::jsonb
)::json;
`
