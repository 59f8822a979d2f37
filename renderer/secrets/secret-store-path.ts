/** Where a workspace keeps its secrets, as receipts name it. */
export const secretStorePath = '.service/secrets.enc';
