package ModelicaServices "What the tests need of it"
  package ExternalReferences
    function loadResource "The file that an address means"
      input String uri;
      output String fileReference;
    algorithm
      fileReference := uri;
    end loadResource;
  end ExternalReferences;
end ModelicaServices;
