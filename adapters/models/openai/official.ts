/** Whether a base URL belongs to OpenAI's own servers. */
export const isOfficial = (baseUrl: string): boolean =>
  URL.canParse(baseUrl) && /(^|\.)openai\.(com|azure\.com)$/.test(new URL(baseUrl).hostname)
