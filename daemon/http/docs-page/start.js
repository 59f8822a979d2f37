window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  displayRequestDuration: true,
  // Nothing leaves this machine: no validator service is asked about the document.
  validatorUrl: null,
});
