// SQLSTATEs of broken connections, servers that shut down or start, idle or lock timeouts, too many clients, and
// conflicts with another transaction; then error codes of the operating system.
const PASSING =
  /^(08...|57P0[1235]|25P0[34]|53300|40001|40P01|ECONN(REFUSED|RESET|ABORTED)|EPIPE|ETIMEDOUT|ENOENT|ENOTFOUND|EAI_AGAIN|E(HOST|NET)UNREACH)$/
/** Whether the connection to a database failed. The statement may have run; another connection may work. */
export const connectionLost = (error: unknown): boolean => PASSING.test(sqlState(error))

/** The code that a database or the operating system gave an error; `''`: none. */
export const sqlState = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
