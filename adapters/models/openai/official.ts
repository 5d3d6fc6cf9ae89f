/** Whether a base URL leads to OpenAI's own servers. */
export const isOfficial = (baseUrl: string): boolean =>
  URL.canParse(baseUrl) && /(^|\.)openai\.(com|azure\.com)$/.test(new URL(baseUrl).hostname)
