// SQLSTATE of connections that break, servers that shut down or start up, sessions that idled or hung for too long, too many
// clients, and of what lost against another transaction; then the system's codes.
const PASSING =
  /^(08...|57P0[1235]|25P0[34]|53300|40001|40P01|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOENT|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH)$/
/** Whether it is the connection to a database that failed: what was asked may have happened, or not, and may succeed on another one. */
export const connectionLost = (error: unknown): boolean => PASSING.test(sqlState(error))

/** The code that a database or the system gave an error; `''`: none. */
export const sqlState = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
